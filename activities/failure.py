"""How an attempt that broke is told to the server: what is public, and whether it may be retried.

Nothing but the public face of the error goes in: no cause, no text of an exception, no stack (G10).
"""

from types import TracebackType

from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from ..runtime.call import Broke
from ..runtime.error import CODES, CapabilityError
from ..runtime.messages import Ending
from ..runtime.names import WORKER_SHUTDOWN


class AttemptFailed(ApplicationError):
    """The failure of one attempt.

    The failure converter writes an exception's stack into history. The frames of this one are the
    library's own and tell nothing, and history is paid for by the byte: so it shows none.
    """

    @property
    def __traceback__(self) -> TracebackType | None:
        """No stack."""
        return None

    @__traceback__.setter
    def __traceback__(  # pyright: ignore[reportIncompatibleVariableOverride] - hides it on purpose
        self, value: TracebackType | None
    ) -> None:
        del value


def overtaken() -> AttemptFailed:
    """The failure of an attempt that the server has closed already, and takes no notice of."""
    return AttemptFailed(
        CODES["TIMEOUT"].message,
        type="TIMEOUT",
        non_retryable=True,
        category=ApplicationErrorCategory.BENIGN,
    )


def question_failed(error: CapabilityError | None, *, again: bool) -> AttemptFailed:
    """The failure of an attempt to find out what became of a write.

    Args:
        error: Why it has no answer; ``None`` where it answered that it cannot tell yet.
        again: Whether it may be asked again.
    """
    code = "UNKNOWN" if error is None else error.code
    return AttemptFailed(
        "What became of it is not known." if error is None else error.public().message,
        type=code,
        non_retryable=not again,
        next_retry_delay=error.retry_after if error is not None and again else None,
        category=ApplicationErrorCategory.BENIGN,
    )


def interrupted_at_keyboard() -> AttemptFailed:
    """The failure of an attempt in which ``KeyboardInterrupt`` was raised; nobody knows why."""
    return AttemptFailed(CODES["INTERNAL_ERROR"].message, type="INTERNAL_ERROR", non_retryable=True)


def failure_of(broke: Broke, ending: Ending) -> AttemptFailed:
    """The failure to raise for an attempt that broke.

    Args:
        broke: How it ended, and whether a further attempt follows.
        ending: What the asking side is told.

    Returns:
        An application error whose type is the code, not retryable unless a further attempt is due.
    """
    type_: str = ending.info.code
    if broke.interruption == "shutdown":
        type_ = WORKER_SHUTDOWN
    benign = broke.error.governed or broke.retries
    return AttemptFailed(
        ending.info.message,
        ending.details(),
        type=type_,
        non_retryable=not broke.retries,
        next_retry_delay=broke.error.retry_after if broke.retries else None,
        category=(
            ApplicationErrorCategory.BENIGN if benign else ApplicationErrorCategory.UNSPECIFIED
        ),
    )
