"""What a handler is given beside its input."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Generic, TypeVar

from .actor import Actor
from .identity import business_key
from .names import Surface
from .request import Request

A = TypeVar("A")


class Context(Generic[A]):
    """The context of one attempt.

    Args:
        app: What the application's context factory made, for example database and gateway.
        request: The request this attempt executes.
        deadline: When the attempt's own timeout strikes: in UTC, or in seconds since 1970.
        told_to_stop: Whether the attempt was told to stop, as its driver knows it.
    """

    __slots__ = ("_cancelled", "_deadline", "_told_to_stop", "app", "request")

    def __init__(
        self,
        app: A,
        request: Request[object, object],
        deadline: datetime | float,
        told_to_stop: Callable[[], bool] | None = None,
    ) -> None:
        self.app = app
        self.request = request
        self._deadline = deadline
        self._cancelled = False
        self._told_to_stop = told_to_stop

    @property
    def deadline(self) -> datetime:
        """When the attempt's own timeout strikes, in UTC."""
        if not isinstance(self._deadline, datetime):  # few handlers ask
            self._deadline = datetime.fromtimestamp(self._deadline, UTC)
        return self._deadline

    @property
    def cancelled(self) -> bool:
        """Whether this attempt was cancelled or timed out; safe to poll from a thread.

        True from the moment of it, also while an ``async`` handler that was told to stop waits for
        the thread that polls this.
        """
        if not self._cancelled and self._told_to_stop is not None and self._told_to_stop():
            self._cancelled = True
        return self._cancelled

    @property
    def idempotency_key(self) -> str:
        """The key to hand to whatever keeps the effect: one per execution (G5)."""
        return self.request.idempotency_key

    @property
    def execution_id(self) -> str:
        """The id of this execution, the same for all its attempts."""
        return self.request.execution_id

    @property
    def attempt(self) -> int:
        """Number of this attempt, 1 for the first."""
        return self.request.attempt

    @property
    def actor(self) -> Actor:
        """Who asks."""
        return self.request.actor

    @property
    def surface(self) -> Surface:
        """Through which door the request came."""
        return self.request.surface

    def business_key(self, *parts: object) -> str:
        """A key for what must happen once across executions, for example once per order.

        Args:
            parts: What identifies the business fact.

        Returns:
            A UUID of 36 characters, the same for equal parts of this capability. Storing it is the
            application's (DESIGN section 6).

        Raises:
            ValueError: No parts, or a part that is not JSON.
        """
        return business_key(self.request.capability.id, parts)

    def cancel(self) -> None:
        """Marks this attempt as cancelled; called by the runtime, not by handlers."""
        self._cancelled = True
