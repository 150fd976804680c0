"""Turns the failure of a local activity into the envelope, or into a further attempt (G1).

The SDK gives the failure of a local activity as it is while it runs, and in part otherwise when it
is read from history: a timeout comes with an ``ActivityError`` around it that says
``CANCEL_REQUESTED``, and from history without any. So nothing here looks at what is around it.

Whether a further attempt follows is what the attempt itself said, because that is recorded: not
what the metadata says by now.
"""

import dataclasses
from dataclasses import dataclass
from datetime import timedelta

from temporalio.exceptions import ActivityError, ApplicationError, CancelledError
from temporalio.exceptions import TimeoutError as TemporalTimeoutError

from ..runtime.error import CapabilityError
from ..runtime.messages import Carry, Ending
from ..runtime.names import PUT_OFF
from .outbox import PAUSE
from .reading import Answer, Asked, failed
from .reading_failure import cancelled, read_failure


@dataclass(frozen=True, slots=True)
class Again:
    """That a further attempt follows.

    Args:
        carry: What it is to know of those before.
        delay: How long to wait; more than zero, so that the workflow task ends.
    """

    carry: Carry
    delay: timedelta


def read_local_failure(asked: Asked, failure: BaseException | None, carry: Carry) -> Answer | Again:
    """Reads the failure of one attempt.

    Args:
        asked: The request.
        failure: What the SDK gives; ``None`` where it was cancelled before it could begin.
        carry: What the attempts before came to.

    Returns:
        The envelope, or that the workflow has to try again.
    """
    if isinstance(failure, ActivityError):
        failure = failure.cause
    if isinstance(failure, ApplicationError):
        return _application(asked, failure, carry)
    if isinstance(failure, TemporalTimeoutError):
        attempts = len(carry.errors) + 1
        if attempts < asked.capability.plan.maximum_attempts:
            return _again(asked, Carry((*carry.errors, "TIMEOUT"), "possible"))
        error = CapabilityError("TIMEOUT")
        return Answer(
            failed(asked, error, "possible", attempts=attempts, errors=carry.errors), seen=False
        )
    if isinstance(failure, CancelledError) or failure is None:
        # A handler that was entered answers for itself, also when it is cancelled.
        return cancelled_between(asked, carry)
    return Answer(failed(asked, CapabilityError("INTERNAL_ERROR"), "possible"), seen=False)


def cancelled_between(asked: Asked, carry: Carry) -> Answer:
    """The answer of an execution that was cancelled before its next attempt began."""
    attempts = len(carry.errors)
    return cancelled(asked, attempts, carry.errors, carry.effect, requested=attempts > 0)


def _application(asked: Asked, failure: ApplicationError, carry: Carry) -> Answer | Again:
    if failure.type == PUT_OFF:
        return Again(carry, PAUSE)
    detail = failure.details[0] if failure.details else None
    ending = Ending.from_failure(failure.type, failure.message, detail)
    answer = read_failure(asked, failure)
    if ending is None:
        return answer
    if not failure.non_retryable:
        code = failure.type or ending.info.code
        return _again(asked, Carry((*ending.errors, code), ending.effect), failure.next_retry_delay)
    # An attempt that was cancelled has recorded no end: its worker could not tell by whom.
    return dataclasses.replace(answer, seen=False) if ending.cancelled else answer


def _again(asked: Asked, carry: Carry, delay: timedelta | None = None) -> Again:
    retry = asked.capability.plan.retry
    if delay is None and retry is not None:
        delay = retry.delay(len(carry.errors))
    return Again(carry, max(delay or PAUSE, PAUSE))
