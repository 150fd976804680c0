"""`reconcile`: a read that settles a write whose outcome is unknown.

A timeout after the gateway took the money leaves the effect ``possible``. A capability may declare
how to find out: a function that gets the same input and the same key, and answers what became of
it. One rule for all drivers is here: what is asked about, and what an answer makes of the envelope.
"""

import dataclasses
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, Generic, TypeVar, cast

from .context import Context
from .envelope import Completed, ExecutionResult, Failed
from .error import CapabilityError, ErrorInfo
from .names import WRITE_LIKE, SideEffect, Verdict
from .retry import Retry, RetryPlan, allows_retry

I = TypeVar("I")  # noqa: E741 - input, as in DESIGN section 4
O = TypeVar("O")  # noqa: E741 - output
O_co = TypeVar("O_co", covariant=True)

DEFAULT_RETRY: Final = Retry(max_retries=4, backoff=timedelta(seconds=1))
DEFAULT_TIMEOUT: Final = timedelta(seconds=10)

MOST_SERIES: Final = 2
"""How often an execution is run by itself: the first time, and once more where that had no effect.

More would be a loop that an answer which is always wrong keeps going.
"""


# Without slots, as is `Reconcile`: Python 3.11 cannot make a frozen one of a given type otherwise.
@dataclass(frozen=True)
class Happened(Generic[O_co]):
    """The write happened, and this is what it gave."""

    output: O_co = field(repr=False)


@dataclass(frozen=True, slots=True)
class DidNotHappen:
    """The write did not happen, and what was sent before cannot make it happen any more."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """It cannot be told, or not yet."""


Answer = Happened[O_co] | DidNotHappen | Unknown
"""What a `reconcile` function answers."""


def happened(output: O) -> Happened[O]:
    """The answer that the write happened.

    Args:
        output: What the handler would have returned; judged and redacted as its output is.
    """
    return Happened(output)


def did_not_happen() -> DidNotHappen:
    """The answer that the write did not happen and will not.

    It lets the execution be run again under the same key. An attempt that timed out may still be on
    its way to the gateway: answer `unknown` unless the gateway would refuse it by its key, or has
    been told to.
    """
    return DidNotHappen()


def unknown() -> Unknown:
    """The answer that it cannot be told yet; asked again as `Reconcile.retry` says."""
    return Unknown()


# The application's context is any type: it is the function's business, as it is the handler's.
ReconcileFunction = (
    Callable[[I, Context[Any]], Awaitable[Answer[O]]]
    | Callable[[I], Awaitable[Answer[O]]]
    | Callable[[I, Context[Any]], Answer[O]]
    | Callable[[I], Answer[O]]
)
"""A `reconcile` function of an input and an output, which are those of the capability."""


@dataclass(frozen=True)
class Reconcile(Generic[I, O]):
    """How to find out what became of a write.

    Args:
        function: Takes the input and, if it wants one, the `Context` of the handler, with the same
            execution id and key; ``async def`` or ``def``. Answers `happened`, `did_not_happen` or
            `unknown`. It must only read.
        retry: Further attempts where it raises, is late or answers `unknown`; ``on`` says which
            errors are worth one, as for a handler.
        timeout: Bound of one attempt.
        run_again: Whether an execution that did not happen is run once more by itself, under the
            same key, as a new series of attempts.

    Raises:
        TypeError: ``function`` is not callable, or ``retry`` is not a `Retry`.
        ValueError: ``timeout`` is not positive.
    """

    function: ReconcileFunction[I, O] = field(repr=False)
    retry: Retry = DEFAULT_RETRY
    timeout: timedelta = DEFAULT_TIMEOUT
    run_again: bool = False

    def __post_init__(self) -> None:
        # The annotations promise it, but not every application is type checked.
        function: object = self.function
        retry: object = self.retry
        timeout: object = self.timeout
        if not callable(function):
            raise TypeError("Reconcile.function must be a function of the input")
        if not isinstance(retry, Retry):
            raise TypeError("Reconcile.retry must be a Retry(max_retries=...)")
        if not isinstance(timeout, timedelta):
            raise TypeError("Reconcile.timeout must be a timedelta")
        if timeout <= timedelta(0):
            raise ValueError(f"Reconcile.timeout is {timeout}: give more than zero")

    def asks_again(self, error: CapabilityError | None) -> bool:
        """Whether it is asked again, the count of `retry` left aside.

        Args:
            error: Why there was no answer; ``None`` where the answer was `unknown`.
        """
        plan = RetryPlan(1 + self.retry.max_retries, self.retry)
        return error is None or allows_retry(plan, error)


def _nobody(input: object) -> Unknown:
    del input
    return Unknown()


UNDECLARED: Final = Reconcile[object, object](_nobody)
"""Stands for the declaration that a workflow has asked by, where it was taken back meanwhile."""


def as_reconcile(
    given: Reconcile[I, O] | ReconcileFunction[I, O] | None,
) -> Reconcile[I, O] | None:
    """A bare function with the default retry and timeout; anything else as it is."""
    if given is None:
        return None
    # Of these types, as its declaration says.
    return cast(Any, given) if isinstance(given, Reconcile) else Reconcile(given)


def is_open(side_effect: SideEffect, envelope: ExecutionResult[object]) -> bool:
    """Whether a final envelope leaves open what happened, and may be asked about.

    Not where the caller cancelled: it waits to end. Not where the recorded step was another
    request: the input at hand does not tell what became of that one.

    Args:
        side_effect: What the capability does.
        envelope: How its execution ended.
    """
    return (
        side_effect in WRITE_LIKE
        and isinstance(envelope, Failed)
        and envelope.effect == "possible"
        and envelope.error.code != "STEP_INPUT_MISMATCH"
    )


def settle(envelope: Failed, verdict: Verdict, output: object = None) -> ExecutionResult[object]:
    """What an answer makes of an envelope.

    Args:
        envelope: Of an execution whose effect is ``possible``.
        verdict: The answer.
        output: The output, where it happened.

    Returns:
        A `Completed` envelope with effect ``done``, with the code of the last attempt among its
        errors; the failure with effect ``none``; or the failure as it was.
    """
    match verdict:
        case "happened":
            return Completed(
                execution_id=envelope.execution_id,
                capability=envelope.capability,
                attempts=envelope.attempts,
                errors=(*envelope.errors, envelope.error.code),
                repeat_of=envelope.repeat_of,
                output=output,
                reconciled="happened",
            )
        case "did_not_happen":
            return dataclasses.replace(envelope, effect="none", reconciled="did_not_happen")
        case "unknown":
            return dataclasses.replace(envelope, reconciled="unknown")


def may_run_again(error: ErrorInfo, series: int) -> bool:
    """Whether an execution that did not happen may be run once more by itself, where that is asked.

    Args:
        error: How the series ended. A declared error is the handler's own answer, and stands.
        series: Number of the series that ended, 1 for the first.
    """
    return error.reason is None and series < MOST_SERIES
