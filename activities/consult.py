"""Whether a write may begin in a run that follows another (G11, DESIGN section 6).

A reset, and a workflow-level retry, schedule again what an earlier run may have begun. So a
capability that does not declare itself idempotent first asks the earlier runs' histories for the
same step:

==============================================  =================================================
what they recorded                              what follows
==============================================  =================================================
it completed                                    the recorded result is the answer; no handler
it may have begun: no outcome, or a failure,    RESET_FORBIDDEN, effect ``possible``
timeout or cancellation after the start
the same, but for another input or requester    STEP_INPUT_MISMATCH; nothing runs
nothing, or an end before the handler           the attempt runs
not to be read                                  RESET_FORBIDDEN: it is never guessed
==============================================  =================================================

History cannot tell a step that waited from one that ran, because the server writes that an activity
was started only when it closes: one that was pending when its run ended counts as begun.

A local activity is no place for such a capability at all: when its worker dies it runs again, as a
first attempt, and leaves no record that could be asked (G2).
"""

import asyncio
import dataclasses
import logging
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from temporalio import activity

from ..runtime.capability import Capability
from ..runtime.error import CapabilityError, ErrorCode
from ..runtime.messages import Ask, Reply
from ..runtime.names import WRITE_LIKE, Effect
from .earlier_runs import EarlierRuns, Recorded
from .identity import Identity, Origins
from .recorded import Outcome, RecordReader

LEAST_TIME: Final = timedelta(milliseconds=500)
"""What reading may always take, and what it must leave of the server's own timeout."""

_log = logging.getLogger("temperance.activity")


@dataclass(frozen=True, slots=True)
class Recalled:
    """An earlier run completed the step, and this is what it answered."""

    reply: Reply


@dataclass(frozen=True, slots=True)
class Forbidden:
    """The handler must not be entered.

    Args:
        error: Why.
        effect: What is known of the world.
    """

    error: CapabilityError
    effect: Effect = "possible"


@dataclass(frozen=True, slots=True)
class _Begun:
    record: Recorded
    outcome: Outcome
    arguments: list[object] = field(repr=False)


async def consult(
    capability: Capability[Any, Any],  # of any input and output, here and below
    raw: object,
    context: object,
    identity: Identity,
    origins: Origins,
) -> Recalled | Forbidden | None:
    """Asks the earlier runs where there may be some, from inside the activity.

    Args:
        capability: What is asked for.
        raw: The raw input, unwrapped.
        context: The request context, unwrapped.
        identity: The execution.
        origins: The worker's reader of original run ids.

    Returns:
        ``None`` where the attempt may run. Whatever keeps the record from being read forbids, a
        cancellation included.
    """
    info = activity.info()
    repeatable = capability.idempotent or capability.side_effect not in WRITE_LIKE
    if info.is_local and not repeatable:
        return Forbidden(_local())
    if not identity.rerun:
        return None
    # A further attempt of what is not repeatable is refused without being asked about (G2).
    if info.attempt > 1 or repeatable:
        return Forbidden(_without_key()) if identity.origin is None else None
    try:
        begun = await _begun(capability, info, identity, origins)
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - it is never guessed
        reason = type(error).__name__
        _log.warning("the earlier runs of %s could not be read (%s)", info.workflow_id, reason)
        return Forbidden(_unreadable(reason))
    return _judge(capability, begun, (raw, context), identity)


async def _begun(
    capability: Capability[Any, Any], info: activity.Info, identity: Identity, origins: Origins
) -> list[_Begun]:
    """What earlier runs recorded of the step, as far as its handler may have been entered."""
    if identity.origin is None:
        raise LookupError("the first run cannot be read")
    client = activity.client()
    reader = RecordReader(client, info)
    runs = EarlierRuns(
        client, origins, info.workflow_id or "", info.workflow_run_id or "", identity.origin
    )
    async with asyncio.timeout(_time_for(capability, info).total_seconds()):
        begun: list[_Begun] = []
        for record in await runs.records_of(info.activity_id):
            outcome = await reader.outcome(record)
            if outcome != "not begun":
                begun.append(_Begun(record, outcome, await reader.arguments(record)))
        return begun


def _judge(
    capability: Capability[Any, Any],
    begun: list[_Begun],
    asked: tuple[object, object],
    identity: Identity,
) -> Recalled | Forbidden | None:
    for entry in begun:
        if not _same(capability, entry, asked):
            return _forbidden("STEP_INPUT_MISMATCH", entry)
    for entry in begun:
        if isinstance(entry.outcome, Reply):
            # The recording run may have known its own id where this one does not, or the reverse.
            ids = (None, None) if identity.told else (identity.execution_id, identity.repeat_of)
            reply = dataclasses.replace(entry.outcome, execution_id=ids[0], repeat_of=ids[1])
            return Recalled(reply)
    return _forbidden("RESET_FORBIDDEN", begun[0]) if begun else None


def _time_for(capability: Capability[Any, Any], info: activity.Info) -> timedelta:
    """The server's timeout, less what the attempt itself may take."""
    if info.start_to_close_timeout is None:
        return LEAST_TIME
    return max(info.start_to_close_timeout - capability.timeout - LEAST_TIME, LEAST_TIME)


def _same(capability: Capability[Any, Any], entry: _Begun, asked: tuple[object, object]) -> bool:
    """Whether the step was recorded for the same capability, input and requester."""
    if entry.record.scheduled.activity_type.name != capability.id:
        return False
    earlier = [*entry.arguments, b"null", b"null"]
    if _requester(earlier[1]) != _requester(asked[1]):
        return False
    if isinstance(earlier[0], bytes) and isinstance(asked[0], bytes):
        return capability.input_schema.same(earlier[0], asked[0])
    return earlier[0] == asked[0]


def _requester(context: object) -> object:
    """Who asked, and through which door; what else goes with a request may differ."""
    try:
        ask = Ask.from_json(context if isinstance(context, bytes) else b"")
    except ValueError:
        return context
    return (str(ask.actor), ask.surface)


def _forbidden(code: ErrorCode, entry: _Begun) -> Forbidden:
    effect = entry.outcome.effect if isinstance(entry.outcome, Reply) else "possible"
    error = CapabilityError(code, details={"run_id": entry.record.run_id}, audit_reason="recorded")
    return Forbidden(error, effect)


def _local() -> CapabilityError:
    return CapabilityError(
        "RETRY_FORBIDDEN",
        "A local activity may run again when its worker dies: schedule this one as an activity.",
        audit_reason="local",
    )


def _without_key() -> CapabilityError:
    return CapabilityError(
        "INTERNAL_ERROR",
        "The workflow's first run cannot be read, so the operation has no idempotency key.",
        audit_reason="unreadable:origin",
    )


def _unreadable(reason: str) -> CapabilityError:
    return CapabilityError(
        "RESET_FORBIDDEN",
        "The operation must not be repeated: whether it has already taken effect cannot be read.",
        audit_reason=f"unreadable:{reason}",
    )
