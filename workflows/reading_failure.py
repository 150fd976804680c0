"""Turns the failure of an activity into the envelope (G1, DESIGN sections 6 and 8)."""

from typing import Final

from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    RetryState,
    TimeoutType,
)
from temporalio.exceptions import (
    TimeoutError as TemporalTimeoutError,
)

from ..runtime.envelope import Cancelled, Failed
from ..runtime.error import CODES, CapabilityError, ErrorInfo
from ..runtime.messages import Carry, Ending
from ..runtime.names import UNKNOWN_ACTIVITY, UNKNOWN_ERROR, WORKER_SHUTDOWN, WRITE_LIKE, Effect
from .reading import Answer, Asked, counted, failed

NO_WORKER: Final = "No worker of this task queue has the capability; nothing was run."
NO_WORKER_AT_LAST: Final = "The worker that took the last attempt does not have the capability."


def read_failure(asked: Asked, failure: BaseException | None, *, rerun: bool = False) -> Answer:
    """Reads the failure of an activity.

    Args:
        asked: The request.
        failure: The SDK's ``ActivityError``, or its cause where that is all there is.
        rerun: Whether the run follows others, after a reset or a workflow-level retry. Then an
            activity of which no attempt began proves nothing: the same step may have been executed
            in one of these.

    Returns:
        The envelope, with the effect that the failure allows to conclude.
    """
    before = rerun and asked.capability.side_effect in WRITE_LIKE
    state: RetryState | None = None
    unstarted = by_workflow = False
    if isinstance(failure, ActivityError):
        by_workflow = True
        unstarted = not failure.started_event_id
        state, failure = failure.retry_state, failure.cause
    if isinstance(failure, ApplicationError):
        return _application(asked, failure, state, before=before)
    if isinstance(failure, TemporalTimeoutError):
        return _timeout(asked, failure, state, before=before)
    if isinstance(failure, CancelledError) or failure is None:
        # A running attempt reports its cancellation itself; the server cancels what has not
        # started, or what waits between two attempts, and does not say which: it gives both the
        # same detail. What was never sent to the server is cancelled without one.
        unsent = unstarted and failure is not None and not failure.details
        # Of one that did start the SDK itself reports it: a codec that was at work on the result
        # was cancelled, for example, after the handler had returned.
        began = isinstance(failure, CancelledError) and not unstarted and by_workflow
        retried = began or (asked.capability.plan.maximum_attempts > 1 and not unsent)
        effect: Effect = "possible" if retried or before else "none"
        return cancelled(asked, 1 if retried else 0, (), effect, requested=False)
    return Answer(failed(asked, CapabilityError("INTERNAL_ERROR"), "possible"), seen=False)


def _timeout(
    asked: Asked, failure: TemporalTimeoutError, state: RetryState | None, *, before: bool
) -> Answer:
    """A timeout that the server noticed: nobody took the request, or its worker was lost."""
    maximum = asked.capability.plan.maximum_attempts
    details = failure.last_heartbeat_details
    told = Carry.from_details(details[0] if details else None)
    if failure.type == TimeoutType.SCHEDULE_TO_START:
        error = CapabilityError("TIMEOUT", "No worker took the request in time.", stage="transport")
        # An operator may have had it tried again, whatever the metadata says: then a heartbeat
        # or a failure before this one is there.
        again = maximum > 1 or bool(details) or failure.cause is not None
        effect: Effect = "possible" if again or before else "none"
        attempts = len(told.errors) or 1
        return Answer(
            failed(asked, error, effect, attempts=attempts, errors=told.errors),
            seen=False,
            requested=False,
        )
    errors = told.errors
    if state == RetryState.MAXIMUM_ATTEMPTS_REACHED:
        errors = _filled(errors, maximum - 1, failure.cause)
    attempts = len(errors) + 1
    if state == RetryState.CANCEL_REQUESTED:
        return cancelled(asked, attempts, errors, "possible", requested=True)
    error = CapabilityError("TIMEOUT")
    return Answer(failed(asked, error, "possible", attempts=attempts, errors=errors), seen=False)


def _filled(told: tuple[str, ...], count: int, before: BaseException | None) -> tuple[str, ...]:
    """As many codes as there were attempts: what they told, the last one as the server knows it."""
    missing = count - len(told)
    if missing <= 0:
        return told
    last: str | None = None
    if isinstance(before, TemporalTimeoutError):
        last = "TIMEOUT"
    elif isinstance(before, ApplicationError):
        last = before.type
    return (*told, *(UNKNOWN_ERROR,) * (missing - 1), last or UNKNOWN_ERROR)


def _application(
    asked: Asked, failure: ApplicationError, state: RetryState | None, *, before: bool
) -> Answer:
    detail = failure.details[0] if failure.details else None
    ending = Ending.from_failure(failure.type, failure.message, detail)
    if ending is None:
        if failure.type == UNKNOWN_ACTIVITY:
            return _unserved(asked, before=before)
        # Not raised by this library: a converter that failed, or foreign code in the activity.
        return Answer(failed(asked, CapabilityError("INTERNAL_ERROR"), "possible"), seen=False)
    # What may be retried left its end to the attempt after it, and there was none.
    last = failure.non_retryable
    if not last and state == RetryState.CANCEL_REQUESTED:
        errors = (*ending.errors, failure.type or ending.info.code)
        return cancelled(
            asked,
            ending.attempts,
            errors,
            ending.effect,
            requested=True,
            told=ending,
        )
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
            repeat_of=ending.repeat_of or asked.repeat_of,
            effect=ending.effect,
            error=info,
        ),
        seen=last,
    )


def _unserved(asked: Asked, *, before: bool) -> Answer:
    """A worker that does not have the capability: it entered no handler, one before it may have."""
    retried = before or asked.capability.plan.maximum_attempts > 1
    message = NO_WORKER_AT_LAST if retried else NO_WORKER
    error = CapabilityError("INTERNAL_ERROR", message, stage="transport", retryable=False)
    effect: Effect = "possible" if retried else "none"
    return Answer(failed(asked, error, effect), seen=False, requested=False)


def cancelled(
    asked: Asked,
    attempts: int,
    errors: tuple[str, ...],
    effect: Effect,
    *,
    requested: bool,
    told: Ending | None = None,
) -> Answer:
    """A cancellation that no attempt could report; one may have told who the execution is."""
    if told is None:
        attempts, errors = counted(asked, attempts, errors)
    envelope = Cancelled(
        execution_id=(told and told.execution_id) or asked.execution_id,
        capability=asked.capability.id,
        attempts=attempts,
        errors=errors,
        repeat_of=(told and told.repeat_of) or asked.repeat_of,
        effect=effect,
        error=CapabilityError("CANCELLED", stage="transport").public(),
    )
    return Answer(envelope, seen=False, requested=requested)


def is_recorded(question: BaseException | None) -> bool:
    """Whether the worker that asked what became of a write has recorded that it is unknown.

    Args:
        question: The cause of the question's failure. One that may be retried left its end to the
            attempt after it, and there was none; of a timeout only the server knows.
    """
    return isinstance(question, ApplicationError) and question.non_retryable
