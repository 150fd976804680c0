"""What an attempt reports of what was raised in it, or of what interrupted it (G10)."""

import asyncio
from datetime import timedelta
from typing import Any

from .call import Interruption
from .error import CapabilityError, DeclaredError, Stage
from .retry import LONGEST_BACKOFF


def translate(raised: BaseException) -> CapabilityError:
    """What an attempt reports of what a handler or its middleware raised.

    Args:
        raised: Anything: it is the application's own, and may be put together wrongly.

    Returns:
        A declared error as itself, everything else as EXECUTION_FAILED with a private cause. Its
        ``retry_after`` is more than zero and at most a day, or ``None``.
    """
    try:
        if isinstance(raised, CapabilityError):
            error = raised
        elif isinstance(raised, DeclaredError):
            error = raised.as_capability_error()
        else:
            after = getattr(raised, "retry_after", None)
            error = CapabilityError("EXECUTION_FAILED", cause=raised, retry_after=after)
        error.public()  # what cannot be told must not end the attempt in another way
        error.retry_after = _bounded(error.retry_after)
    except Exception:  # noqa: BLE001 - an exception's own attributes may raise anything
        return CapabilityError("EXECUTION_FAILED", cause=raised)
    return error


def is_passed_on(
    raised: BaseException, task: "asyncio.Task[Any] | None", before: int | None = None
) -> bool:
    """Whether what was raised in an attempt is not the attempt's to answer for.

    That is the interrupt from the keyboard, its own cancellation, and the end of its coroutine:
    Python raises ``GeneratorExit`` where a suspended one is closed, which its own task never does.
    Raised while the task runs it is the application's, and an error like any other.

    Args:
        raised: Anything; a cancellation may also be of something that the application waited for.
        task: The attempt's own, of whatever its coroutine returns; ``None`` where nothing was
            waited for.
        before: How often the task was cancelled before; ``None`` where that is told otherwise.
    """
    if isinstance(raised, KeyboardInterrupt):
        return True
    if task is None:
        return False
    if isinstance(raised, asyncio.CancelledError):
        return before is not None and task.cancelling() > before
    if not isinstance(raised, GeneratorExit):
        return False
    try:
        return asyncio.current_task() is not task
    except RuntimeError:
        return True  # no event loop runs: whoever collects the coroutine closes it


def _bounded(after: object) -> timedelta | None:
    if not isinstance(after, timedelta) or after <= timedelta(0):
        return None
    return min(after, LONGEST_BACKOFF)


def interrupted(interruption: Interruption, stage: Stage) -> CapabilityError:
    """The error of an attempt that was interrupted from outside."""
    match interruption:
        case "cancelled":
            return CapabilityError("CANCELLED", stage=stage)
        case "shutdown":
            message = "The worker shut down during the operation."
        case "paused":
            message = "An operator paused or reset the operation while it ran."
        case _:
            return CapabilityError("TIMEOUT", stage=stage)
    return CapabilityError("EXECUTION_FAILED", message, stage=stage)
