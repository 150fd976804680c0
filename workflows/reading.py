"""Turns what the server says of an activity into the envelope (G1, DESIGN section 6)."""

import dataclasses
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import from_json, to_json
from temporalio.common import RawValue

from ..runtime.answer import answer_of
from ..runtime.call import Asked as Demand
from ..runtime.capability import Capability
from ..runtime.envelope import ApprovalRequired, Completed, ExecutionResult, Failed
from ..runtime.error import CapabilityError
from ..runtime.messages import Reply, Settlement
from ..runtime.names import Effect
from ..runtime.reconcile import settle
from ..runtime.schema import problems_of
from ..runtime.series import Series


class Asked(NamedTuple):
    """The request whose answer is read.

    Args:
        capability: What was asked for.
        execution_id: As the asking side derives it.
        repeat_of: Execution id of the first execution that asked for the same.
        decode: Whether the output is decoded to the capability's type, or left JSON-like.
        series: Where the execution is run again: which time it is.
    """

    capability: Capability[Any, Any]  # of any output: the envelope is typed by the caller
    execution_id: str
    repeat_of: str | None
    decode: bool
    series: Series | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What was read.

    Args:
        envelope: The envelope.
        seen: Whether a worker saw, and recorded, the end; where not, the asking side records it.
        requested: Whether an attempt is known to have recorded the request. Where it is not, the
            asking side records that too: sinks drop what they have.
    """

    envelope: ExecutionResult[object]
    seen: bool = True
    requested: bool = True


def read_result(asked: Asked, value: RawValue) -> ExecutionResult[object]:
    """Reads the result of an activity that completed.

    Args:
        asked: The request.
        value: The raw result.

    Returns:
        The envelope. A result that does not fit the type gives OUTPUT_INVALID with effect ``done``,
        never an exception: the workflow task would fail for ever.
    """
    try:
        reply = Reply.from_json(value.payload.data)
    except (ValueError, TypeError, RecursionError):
        return failed(asked, CapabilityError("OUTPUT_INVALID"), "done")
    execution_id = reply.execution_id or asked.execution_id
    repeat_of = reply.repeat_of or asked.repeat_of
    if reply.asked is not None:
        return ApprovalRequired(
            execution_id=execution_id,
            capability=asked.capability.id,
            attempts=reply.attempts,
            errors=reply.errors,
            repeat_of=repeat_of,
            reasons=reply.asked.reasons,
            types=reply.asked.types,
            expires_at=reply.asked.expires_at,
            input_hash=reply.asked.input_hash,
        )
    data = reply.output or b"null"
    try:
        output = asked.capability.output_schema.read(data) if asked.decode else from_json(data)
    except ValidationError as error:
        return failed(
            asked, CapabilityError("OUTPUT_INVALID", details=problems_of(error)), "done", reply
        )
    except BaseException:  # noqa: BLE001 - a validator of the application's own: it may raise anything
        return failed(asked, CapabilityError("OUTPUT_INVALID"), "done", reply)
    return Completed(
        execution_id=execution_id,
        capability=asked.capability.id,
        attempts=reply.attempts,
        errors=reply.errors,
        repeat_of=repeat_of,
        effect=reply.effect,
        output=output,
    )


def read_settled(asked: Asked, envelope: Failed, value: RawValue) -> ExecutionResult[object]:
    """Reads what was found out about an execution whose effect is ``possible``.

    Args:
        asked: The request.
        envelope: How it ended.
        value: The raw `Settlement`.

    Returns:
        What the answer makes of the envelope. An output that this side cannot read leaves it
        unknown.
    """
    try:
        found = Settlement.from_json(value.payload.data)
        output: object = None
        if found.verdict == "happened":
            schema = asked.capability.output_schema
            output = schema.read(found.output) if asked.decode else from_json(found.output)
    except Exception:  # noqa: BLE001 - a validator of the application's own, too
        return settle(envelope, "unknown")
    return settle(envelope, found.verdict, output)


def read_demand(value: RawValue) -> Demand | None:
    """What an approval is to be started with, where the result of an activity asks for one.

    Args:
        value: The raw result.

    Returns:
        ``None`` also where nobody can be asked: histories of before approvals have demands without
        an input.
    """
    data = value.payload.data
    if data.startswith(b'{"output":'):
        return None
    try:
        demand = Reply.from_json(data).asked
    except (ValueError, TypeError, RecursionError):
        return None
    return demand if demand is not None and demand.input else None


def typed(envelope: ExecutionResult[object], asked: Asked) -> ExecutionResult[object]:
    """Gives an envelope whose output was left JSON-like the capability's output type.

    Args:
        envelope: The envelope, as an approval gave it.
        asked: The request.

    Returns:
        The envelope; OUTPUT_INVALID with effect ``done`` where the output does not fit.
    """
    if not isinstance(envelope, Completed) or not asked.decode:
        return envelope
    try:
        output: object = asked.capability.output_schema.read(to_json(envelope.output))
    except BaseException:  # noqa: BLE001 - a validator of the application's own: it may raise anything
        return failed(asked, CapabilityError("OUTPUT_INVALID"), "done")
    return dataclasses.replace(envelope, output=output)


def failed(
    asked: Asked,
    error: CapabilityError,
    effect: Effect,
    reply: Reply | None = None,
    *,
    attempts: int = 1,
    errors: tuple[str, ...] = (),
) -> Failed:
    """The envelope of an execution that ended with an error.

    Args:
        asked: The request.
        error: Why.
        effect: What is known of the world.
        reply: What the activity answered all the same; it says how many attempts it took.
        attempts: Where there is no reply: how many.
        errors: Where there is no reply: codes of the attempts before the last.

    Returns:
        The envelope.
    """
    attempts, errors = counted(asked, attempts, errors)
    return Failed(
        execution_id=(reply and reply.execution_id) or asked.execution_id,
        capability=asked.capability.id,
        attempts=attempts if reply is None else reply.attempts,
        errors=errors if reply is None else reply.errors,
        repeat_of=(reply and reply.repeat_of) or asked.repeat_of,
        effect=effect,
        error=answer_of(error, effect, asked.capability.side_effect),
    )


def counted(asked: Asked, attempts: int, errors: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
    """Attempts and their codes, with those of the series before, which the server does not know.

    Args:
        asked: The request.
        attempts: How many there were in this series.
        errors: Codes of those before the last.
    """
    series = asked.series
    if series is None:
        return attempts, errors
    return series.attempts + attempts, (*series.errors, *errors)
