"""Turns what the server says of an activity into the envelope (G1, DESIGN section 6)."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json, to_json
from temporalio.common import RawValue
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    TimeoutType,
)
from temporalio.exceptions import (
    TimeoutError as TemporalTimeoutError,
)

from ..runtime.answer import answer_of
from ..runtime.capability import Capability
from ..runtime.envelope import ApprovalRequired, Cancelled, Completed, ExecutionResult, Failed
from ..runtime.error import CODES, CapabilityError, ErrorCode, ErrorInfo
from ..runtime.messages import Ending, Reply
from ..runtime.names import UNKNOWN_ACTIVITY, WORKER_SHUTDOWN, Effect
from ..runtime.schema import problems_of

NO_WORKER = "No worker of this task queue has the capability; nothing was run."


@dataclass(frozen=True, slots=True)
class Asked:
    """The request whose answer is read.

    Args:
        capability: What was asked for.
        execution_id: As the asking side derives it.
        repeat_of: Execution id of the first execution that asked for the same.
        decode: Whether the output is decoded to the capability's type, or left JSON-like.
    """

    capability: Capability[Any, Any]  # of any output: the envelope is typed by the caller
    execution_id: str
    repeat_of: str | None
    decode: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What was read.

    Args:
        envelope: The envelope.
        seen: Whether a worker saw, and recorded, the end; where not, the asking side records it.
        requested: Whether an attempt may have recorded the request.
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
        return _failed(asked, CapabilityError("OUTPUT_INVALID"), "done")
    execution_id = reply.execution_id or asked.execution_id
    if reply.asked is not None:
        return ApprovalRequired(
            execution_id=execution_id,
            capability=asked.capability.id,
            attempts=reply.attempts,
            errors=reply.errors,
            repeat_of=asked.repeat_of,
            reasons=reply.asked.reasons,
            types=reply.asked.types,
            expires_at=reply.asked.expires_at,
            input_hash=reply.asked.input_hash,
        )
    data = reply.output or b"null"
    try:
        output = asked.capability.output_schema.read(data) if asked.decode else from_json(data)
    except ValidationError as error:
        return _failed(
            asked, CapabilityError("OUTPUT_INVALID", details=problems_of(error)), "done", reply
        )
    except Exception:  # noqa: BLE001 - a validator of the application's own
        return _failed(asked, CapabilityError("OUTPUT_INVALID"), "done", reply)
    return Completed(
        execution_id=execution_id,
        capability=asked.capability.id,
        attempts=reply.attempts,
        errors=reply.errors,
        repeat_of=asked.repeat_of,
        effect=reply.effect,
        output=output,
    )


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
    except Exception:  # noqa: BLE001 - a validator of the application's own
        return _failed(asked, CapabilityError("OUTPUT_INVALID"), "done")
    return dataclasses.replace(envelope, output=output)


def read_failure(asked: Asked, failure: BaseException | None) -> Answer:
    """Reads the failure of an activity.

    Args:
        asked: The request.
        failure: The cause of the SDK's ``ActivityError``, or that error itself.

    Returns:
        The envelope, with the effect that the failure allows to conclude.
    """
    if isinstance(failure, ActivityError):
        failure = failure.cause
    retried = asked.capability.plan.maximum_attempts > 1
    if isinstance(failure, ApplicationError):
        return _application(asked, failure)
    if isinstance(failure, TemporalTimeoutError):
        never_started = failure.type == TimeoutType.SCHEDULE_TO_START
        effect: Effect = "possible" if retried or not never_started else "none"
        error = CapabilityError("TIMEOUT")
        if never_started:
            error = CapabilityError(
                "TIMEOUT", "No worker took the request in time.", stage="transport"
            )
        return Answer(_failed(asked, error, effect), seen=False, requested=not never_started)
    if isinstance(failure, CancelledError) or failure is None:
        # A running attempt reports its cancellation itself; the server cancels what has not
        # started, or what waits between two attempts.
        envelope = Cancelled(
            execution_id=asked.execution_id,
            capability=asked.capability.id,
            attempts=1 if retried else 0,
            repeat_of=asked.repeat_of,
            effect="possible" if retried else "none",
            error=CapabilityError("CANCELLED", stage="transport").public(),
        )
        return Answer(envelope, seen=False, requested=retried)
    return Answer(_failed(asked, CapabilityError("INTERNAL_ERROR"), "possible"), seen=False)


def _application(asked: Asked, failure: ApplicationError) -> Answer:
    detail = failure.details[0] if failure.details else None
    ending = Ending.from_failure(failure.type, failure.message, detail)
    if ending is None:
        if failure.type == UNKNOWN_ACTIVITY:
            error = CapabilityError("INTERNAL_ERROR", NO_WORKER, stage="transport", retryable=False)
            return Answer(_failed(asked, error, "none"), seen=False, requested=False)
        # Not raised by this library: a converter that failed, or foreign code in the activity.
        code: ErrorCode = "INTERNAL_ERROR"
        return Answer(_failed(asked, CapabilityError(code), "possible"), seen=False)
    info = ending.info
    if failure.type == WORKER_SHUTDOWN:
        info = ErrorInfo(
            code="EXECUTION_FAILED",
            message=info.message or CODES["EXECUTION_FAILED"].message,
            stage=info.stage,
            retryable=info.retryable,
        )
    kind = Cancelled if ending.cancelled else Failed
    return Answer(
        kind(
            execution_id=ending.execution_id or asked.execution_id,
            capability=asked.capability.id,
            attempts=ending.attempts,
            errors=ending.errors,
            repeat_of=asked.repeat_of,
            effect=ending.effect,
            error=info,
        )
    )


def _failed(
    asked: Asked, error: CapabilityError, effect: Effect, reply: Reply | None = None
) -> Failed:
    return Failed(
        execution_id=(reply and reply.execution_id) or asked.execution_id,
        capability=asked.capability.id,
        attempts=1 if reply is None else reply.attempts,
        errors=() if reply is None else reply.errors,
        repeat_of=asked.repeat_of,
        effect=effect,
        error=answer_of(error, effect, asked.capability.side_effect),
    )
