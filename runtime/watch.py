"""Whether an attempt was interrupted from outside, and how long its end may take (G7).

What asyncio knows of a cancellation is a count on the task. A policy, a sink or a handler that
swallows the exception leaves the count as it is, so the attempt is interrupted all the same.
"""

import asyncio
from datetime import timedelta
from typing import Any, Final

from .call import Call

LEAST_MARGIN: Final = timedelta(seconds=1)
MOST_MARGIN: Final = timedelta(seconds=10)


class Watch:
    """Watches the task of one attempt from its beginning.

    Args:
        call: The attempt.

    Raises:
        RuntimeError: Not called in an asyncio task.
    """

    __slots__ = ("_before", "_call", "task")

    def __init__(self, call: Call) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("an attempt must run in an asyncio task")
        self.task: asyncio.Task[Any] = task  # of whatever the driver's coroutine returns
        self._call = call
        self._before = task.cancelling()

    @property
    def cancelled(self) -> bool:
        """Whether its task was cancelled since it began, and the cancellation not taken back."""
        return self.task.cancelling() > self._before

    @property
    def interrupted(self) -> bool:
        """Whether the attempt was cancelled from outside since it began; safe from a thread."""
        return self.task.cancelling() > self._before or self._call.interrupted()

    def forget(self, own: int) -> None:
        """Takes back cancellations that were the attempt's own.

        Args:
            own: How many it has sent itself. Where the application took some back already, no more
                are taken back than there are.
        """
        for _ in range(min(own, self.task.cancelling() - self._before)):
            self.task.uncancel()


def margin_after(timeout: timedelta) -> timedelta:
    """How long an attempt may take to end after its deadline, before the server ends it.

    Args:
        timeout: The capability's.

    Returns:
        Half of it, between one second and ten.
    """
    return min(max(timeout / 2, LEAST_MARGIN), MOST_MARGIN)


def patience_after(timeout: timedelta) -> timedelta:
    """How long a handler that was told to stop may take before it is told again.

    Less than `margin_after`, so that what it holds up at the end (the closing of a database, for
    example) ends the attempt while its outcome still counts.
    """
    return margin_after(timeout) * 0.8
