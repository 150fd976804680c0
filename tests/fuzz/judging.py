"""What holds for every execution, whatever was thrown at it: the oracle of all targets."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from temperance import (
    ApprovalRequired,
    Cancelled,
    CapabilityError,
    Completed,
    ExecutionResult,
    Failed,
    MemorySink,
)
from temperance.runtime.actor import Actor
from temperance.runtime.app import App
from temperance.runtime.error import CODES
from temperance.runtime.event import TERMINAL, Event
from temperance.runtime.names import Surface
from temperance.runtime.runtime import Runtime
from tests.fuzz.budget import PATIENCE
from tests.fuzz.secret import leaks, listening

ADA: Final = Actor(id="ada")

_ENDS: Final = {
    "completed": {"capability.completed"},
    "failed": {"capability.failed", "capability.denied"},
    "cancelled": {"capability.cancelled"},
    "approval_required": {"capability.approval_requested"},
}

_CONCEALED: Final = "EXECUTION_FAILED"


@dataclass
class Seen:
    """What one execution left behind.

    Args:
        envelope: Its answer.
        events: What a sink recorded.
        lines: What was logged.
    """

    envelope: ExecutionResult[Any]
    events: Sequence[Event]
    lines: Sequence[str]


@dataclass
class Door:
    """Counts how often a handler was entered, and how often it returned."""

    entered: int = 0
    returned: int = 0
    inputs: list[object] = field(default_factory=list[object])


async def bounded(pending: Awaitable[Any]) -> Any:  # whatever it gives
    """Waits, and takes what does not end for a defect.

    Raises:
        AssertionError: It hangs.
    """
    task = asyncio.ensure_future(pending)
    try:
        done, _ = await asyncio.wait({task}, timeout=PATIENCE)
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task}, timeout=PATIENCE)
        assert task.done()
        raise
    if not done:
        task.cancel()
        raise AssertionError(f"it did not end within {PATIENCE} seconds")
    return task.result()


async def invoke(
    app: App,
    sink: MemorySink,
    capability: Any,  # also what is none
    value: object,
    *,
    actor: Actor = ADA,
    surface: Surface = "agent",
    check: Callable[[Seen], None] | None = None,
) -> Seen:
    """Asks in process, and judges what came of it but for what the handler did."""
    with listening() as lines:
        envelope = await bounded(
            Runtime(app).invoke(capability, value, actor=actor, surface=surface)
        )
    seen = Seen(
        envelope, [e for e in sink.events if e.execution_id == envelope.execution_id], lines
    )
    judge(seen)
    if check is not None:
        check(seen)
    return seen


def judge(seen: Seen, door: Door | None = None) -> None:
    """Checks an envelope, its trail and the log against each other.

    Args:
        seen: What an execution left.
        door: Of its handler, where nothing else was asked of that.

    Raises:
        AssertionError: They disagree, or something is told that must not be.
    """
    envelope = seen.envelope
    assert isinstance(envelope, Completed | ApprovalRequired | Failed | Cancelled), envelope
    written = json.dumps(envelope.to_dict(), ensure_ascii=False)
    written.encode()  # what is half a character could not leave
    told = [written, repr(envelope.to_dict()), *seen.lines]
    if not isinstance(envelope, Completed):
        told.append(repr(envelope))
        try:
            envelope.unwrap()
        except CapabilityError as error:
            told += [str(error), repr(error)]
    if isinstance(envelope, Failed | Cancelled):
        assert envelope.code in CODES
        assert isinstance(envelope.error.message, str)
    told += [event.model_dump_json() for event in seen.events]
    assert leaks(told) == []
    _judge_trail(envelope, seen.events)
    if door is not None:
        _judge_effect(envelope, door)


def _judge_trail(envelope: ExecutionResult[Any], events: Sequence[Event]) -> None:
    ends = [event for event in events if event.type in TERMINAL | _ENDS["approval_required"]]
    assert len(ends) == 1, [event.type for event in events]
    end = ends[0]
    assert events[-1] == end
    assert end.type in _ENDS[envelope.status]
    assert end.effect == envelope.effect
    assert end.attempts == envelope.attempts
    assert end.capability == envelope.capability
    if isinstance(envelope, Failed | Cancelled) and envelope.code != _CONCEALED:
        assert end.error_code == envelope.code
    types = [event.type for event in events]
    assert types.count("capability.requested") == 1
    assert types[0] == "capability.requested"
    assert types.count("capability.retried") == envelope.attempts - 1
    assert len(envelope.errors) == envelope.attempts - 1


def _judge_effect(envelope: ExecutionResult[Any], door: Door) -> None:
    if envelope.effect == "none":
        assert door.entered == 0
    elif envelope.effect == "done":
        assert door.returned > 0
    else:
        assert door.entered > 0
    assert door.entered <= envelope.attempts
