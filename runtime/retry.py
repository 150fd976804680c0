"""Retry derivation: how many attempts a capability gets, and when (G2, DESIGN section 6).

One rule for both drivers. On Temporal the derived plan becomes the activity's retry policy; in
process `Runtime` drives the loop by the same plan.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from .error import CapabilityError
from .names import WRITE_LIKE, SideEffect
from .shape import is_tuple

DEFAULT_BACKOFF: Final = timedelta(milliseconds=250)
DEFAULT_MAX_BACKOFF: Final = timedelta(seconds=30)
LONGEST_BACKOFF: Final = timedelta(days=1)
MOST_RETRIES: Final = 10_000
COEFFICIENT: Final = 2.0

RetryOn = tuple[type[BaseException], ...] | Callable[[CapabilityError], bool]
"""Exception types that count as retryable, or a predicate over the error that can veto."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Further attempts of one execution, started by the runtime.

    Args:
        max_retries: Attempts *after* the first, 1 to 10,000. To have none, leave ``retry`` out: in
            Temporal a maximum of 0 would mean without limit.
        backoff: Delay before the first retry, doubled before each further one; 0 to one day.
        max_backoff: Cap of the delay; at least ``backoff``, more than zero, at most one day.
        on: Exception types of which an undeclared exception must be an instance to be retried, or
            a predicate over the `CapabilityError` that says ``False`` to veto the retry.

    Raises:
        ValueError: A number or duration out of its bounds; the message says which.
        TypeError: ``on`` is neither exception types nor callable.
    """

    max_retries: int
    backoff: timedelta = DEFAULT_BACKOFF
    max_backoff: timedelta = DEFAULT_MAX_BACKOFF
    on: RetryOn | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.max_retries, bool) or not isinstance(self.max_retries, int):
            raise TypeError("Retry.max_retries must be a whole number")
        for name, value in (("backoff", self.backoff), ("max_backoff", self.max_backoff)):
            if not isinstance(value, timedelta):
                raise TypeError(f"Retry.{name} must be a timedelta")
        if not 1 <= self.max_retries <= MOST_RETRIES:
            raise ValueError(
                f"Retry.max_retries is {self.max_retries}: give 1 to {MOST_RETRIES}, "
                "or leave retry out for a single attempt"
            )
        if not timedelta(0) <= self.backoff <= LONGEST_BACKOFF:
            raise ValueError(f"Retry.backoff is {self.backoff}: give zero to {LONGEST_BACKOFF}")
        if self.max_backoff < self.backoff and self.max_backoff == DEFAULT_MAX_BACKOFF:
            object.__setattr__(self, "max_backoff", self.backoff)
        if not timedelta(0) < self.max_backoff <= LONGEST_BACKOFF:
            raise ValueError(
                f"Retry.max_backoff is {self.max_backoff}: give more than zero, "
                f"at most {LONGEST_BACKOFF}"
            )
        if self.max_backoff < self.backoff:
            raise ValueError(
                f"Retry.max_backoff ({self.max_backoff}) is less than backoff ({self.backoff})"
            )
        # A bare exception type can be called too, and would veto every retry as a predicate.
        predicate = callable(self.on) and not isinstance(self.on, type)
        if self.on is not None and not predicate and not _are_exception_types(self.on):
            raise TypeError("Retry.on must be a tuple of exception types, or a predicate")

    def delay(self, retries: int) -> timedelta:
        """The delay before retry number ``retries`` (1 is the first).

        Args:
            retries: 1 or more; any number gives a finite delay of at most ``max_backoff``.

        Returns:
            ``backoff * 2 ** (retries - 1)``, capped.
        """
        if self.backoff == timedelta(0):
            return timedelta(0)
        doublings = max(retries - 1, 0)
        # 2**17 seconds is more than a day: beyond it every delay is the cap, and nothing overflows.
        if doublings > 60 or self.backoff > self.max_backoff / 2**doublings:
            return self.max_backoff
        delay: timedelta = self.backoff * 2**doublings
        return min(delay, self.max_backoff)


@dataclass(frozen=True, slots=True)
class RetryPlan:
    """What the metadata of a capability comes to.

    Args:
        maximum_attempts: 1 or more, the first attempt included.
        retry: Backoff and filter; ``None`` where there is a single attempt.
    """

    maximum_attempts: int
    retry: Retry | None = None

    @property
    def initial_interval(self) -> timedelta:
        """Temporal's initial interval. It must be positive there, so zero becomes 1 ms."""
        backoff = DEFAULT_BACKOFF if self.retry is None else self.retry.backoff
        return max(backoff, timedelta(milliseconds=1))

    @property
    def maximum_interval(self) -> timedelta:
        """Temporal's maximum interval, never under the initial one.

        A backoff of zero stays next to zero: doubled up to ``max_backoff``, the 1 ms that stands
        for it would grow into delays that were never asked for.
        """
        cap = DEFAULT_MAX_BACKOFF if self.retry is None else self.retry.max_backoff
        if self.retry is not None and not self.retry.backoff:
            return self.initial_interval
        return max(cap, self.initial_interval)


SINGLE_ATTEMPT: Final = RetryPlan(1)


def derive_plan(side_effect: SideEffect, idempotent: bool, retry: Retry | None) -> RetryPlan:
    """Derives the attempts of a capability from its metadata (G2).

    Args:
        side_effect: What the capability does.
        idempotent: The declared claim that equal calls under one key are safe to repeat.
        retry: The declared retry, if any.

    Returns:
        ``1 + max_retries`` attempts where a retry is given and the side effect is ``none`` or
        ``read`` or the capability is idempotent; one attempt for everything else.
    """
    if retry is None or (side_effect in WRITE_LIKE and not idempotent):
        return SINGLE_ATTEMPT
    return RetryPlan(1 + retry.max_retries, retry)


def allows_retry(plan: RetryPlan, error: CapabilityError) -> bool:
    """Whether this error may be followed by a further attempt, the count left aside.

    Args:
        plan: The derived plan.
        error: What ended the attempt.

    Returns:
        True where the plan has more than one attempt, the error is retryable and ``Retry.on`` does
        not rule it out. A predicate that raises vetoes.
    """
    if plan.retry is None or not error.retryable:
        return False
    on = plan.retry.on
    if on is None:
        return True
    if not callable(on):
        return error.cause is None or error.reason is not None or isinstance(error.cause, on)
    try:
        return on(error) is True
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - the predicate is the application's: a fault in it must close
        return False


def _are_exception_types(kinds: object) -> bool:
    return (
        is_tuple(kinds)
        and bool(kinds)
        and all(isinstance(kind, type) and issubclass(kind, BaseException) for kind in kinds)
    )
