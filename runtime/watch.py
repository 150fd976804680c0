"""Whether an attempt was interrupted from outside (G7).

What asyncio knows of a cancellation is a count on the task. A policy, a sink or a handler that
swallows the exception leaves the count as it is, so the attempt is interrupted all the same.
"""

import asyncio
from typing import Any

from .call import Call


class Watch:
    """Watches the task of one attempt from its beginning.

    Args:
        call: The attempt.

    Raises:
        RuntimeError: Not called in an asyncio task.
    """

    __slots__ = ("_before", "_began", "_call", "loop", "task")

    def __init__(self, call: Call) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("an attempt must run in an asyncio task")
        self.task: asyncio.Task[Any] = task  # of whatever the driver's coroutine returns
        self.loop = task.get_loop()
        self._call = call
        self._before = task.cancelling()
        # Only what is given from the beginning must know when that was.
        self._began = 0.0 if call.available is None else self.loop.time()

    @property
    def cancelled(self) -> bool:
        """Whether its task was cancelled since it began, and the cancellation not taken back."""
        return self.task.cancelling() > self._before

    @property
    def interrupted(self) -> bool:
        """Whether the attempt was cancelled from outside since it began; safe from a thread."""
        return self.task.cancelling() > self._before or self._call.interrupted()

    def deadline(self, timeout: float, now: float) -> float:
        """When the attempt must have ended, on the clock of its event loop.

        Args:
            timeout: The capability's, in seconds from now on.
            now: What the clock says.

        Returns:
            The earlier of that and of what the driver gave the attempt from its beginning.
        """
        end = now + timeout
        available = self._call.available
        return end if available is None else min(end, self._began + available.total_seconds())

    def forget(self, own: int) -> None:
        """Takes back cancellations that were the attempt's own.

        Args:
            own: How many it has sent itself. Where the application took some back already, no more
                are taken back than there are.
        """
        for _ in range(min(own, self.task.cancelling() - self._before)):
            self.task.uncancel()
