"""Reads that run inside the asking worker, and their twins that do not.

Twins have the same handler and metadata but for the placement. What happens in a handler is told by
the name of its case, as in `tests.guarantees.stopping`.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Literal

from pydantic import BaseModel
from temporalio import activity

from temperance import (
    App,
    Capability,
    Context,
    DeclaredError,
    Governance,
    Request,
    Retry,
    allow,
    capability,
    deny,
    hide,
    require_approval,
)
from temperance.runtime.decision import Decision
from temperance.runtime.names import Placement, SideEffect
from temperance.runtime.sink import Sink
from tests.guarantees.stopping.scenes import SCENES, Scene

How = Literal[
    "return",
    "fail",
    "decline",
    "later",
    "odd",
    "hang",
    "gate",
    "tell",
    "nap",
    "nap and fail",
    "block",
    "swallow",
    "drain",
]
Rule = Literal["none", "deny", "hide", "approve"]

SHORT = timedelta(milliseconds=300)
SOON = timedelta(milliseconds=10)


class Question(BaseModel):
    """What is asked: `how` in each attempt, the last one also in all after it."""

    name: str
    how: tuple[How, ...] = ("return",)
    rule: Rule = "none"
    size: int = 0
    note: str = ""


class Answer(BaseModel):
    """What is found."""

    name: str
    filling: str = ""


class NotThere(DeclaredError):
    """A handler's no."""

    reason = "NOT_THERE"


async def look(input: Question, ctx: Context[None]) -> Answer:
    """Do as the case says."""
    scene = SCENES[input.name]
    scene.enter()
    ENTERED.append((input.name, ctx.execution_id, ctx.idempotency_key, ctx.attempt))
    for tell in ON_ENTRY:
        tell(input.name)
    how = input.how[min(ctx.attempt, len(input.how)) - 1]
    await _wait(scene, how)
    match how:
        case "fail" | "nap and fail":
            raise ConnectionError
        case "decline":
            raise NotThere("It is not there.", details={"name": input.name})
        case "later":
            raise NotThere("Not yet.", retry_after=timedelta(milliseconds=20))
        case "odd":
            return "no answer"  # type: ignore[return-value] # pyright: ignore[reportReturnType] - the fault that is tested
        case _:
            scene.notes.append("returned")
            return Answer(name=input.name, filling="x" * input.size)


async def _wait(scene: Scene, how: How) -> None:
    match how:
        case "hang":
            await asyncio.Event().wait()
        case "gate":
            await scene.gate.wait()
        case "tell":
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                scene.notes.append("told")
                raise
        case "nap" | "nap and fail":
            await asyncio.sleep(0.2)
        case "block":
            time.sleep(1.6)  # noqa: ASYNC251 - past the SDK's own timeout: the fault that is tested
        case "swallow":
            await _deaf(scene.gate)
        case "drain":
            await activity.wait_for_worker_shutdown()
        case _:
            pass


async def _deaf(gate: asyncio.Event) -> None:
    while not gate.is_set():
        try:
            await gate.wait()
        except asyncio.CancelledError:
            continue


def rule(request: Request[Any, Any]) -> Decision:
    """Rules as the question says."""
    match getattr(request.input, "rule", "none"):
        case "deny":
            return deny("NOT_TODAY", "Not today.")
        case "hide":
            return hide()
        case "approve":
            return require_approval("look at it first", type="manager")
        case _:
            return allow()


ENTERED: list[tuple[str, str, str, int]] = []
"""Name, execution id, key and attempt of each handler that was entered in this process."""

ON_ENTRY: list[Callable[[str], None]] = []
"""Told of each entry, in a worker that has a process of its own."""


def made(
    id_: str,
    placement: Placement,
    *,
    retry: Retry | None = None,
    timeout: timedelta = timedelta(seconds=5),
    side_effect: SideEffect = "read",
) -> Capability[Question, Answer]:
    """A capability of that handler."""
    return capability(
        id_,
        description="Look it up.",
        expose={"workflow", "direct"},
        side_effect=side_effect,
        risk="low",
        placement=placement,
        retry=retry,
        timeout=timeout,
        policies=[rule],
    )(look)


THRICE = Retry(max_retries=2, backoff=SOON)


def twins(
    name: str, *, retry: Retry | None = None, timeout: timedelta = timedelta(seconds=5)
) -> tuple[Capability[Question, Answer], Capability[Question, Answer]]:
    """Two capabilities that differ in where they run, and in nothing else."""
    return (
        made(f"local.{name}", "local", retry=retry, timeout=timeout),
        made(f"remote.{name}", "remote", retry=retry, timeout=timeout),
    )


ALL = (
    *twins("read", retry=THRICE),
    *twins("once"),
    *twins("short", timeout=SHORT, retry=THRICE),
    *twins("short_once", timeout=SHORT),
    *twins("patient", retry=Retry(max_retries=2, backoff=timedelta(hours=1))),
)


def app_of(sinks: Sequence[Sink] = (), served: Sequence[Capability[Any, Any]] = ALL) -> App:
    """The application."""
    return App(Governance(served), sinks=sinks)


def say(line: str) -> None:
    """Tell whoever started this process."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
