"""How much a run sends the server in one workflow task.

What a workflow schedules in one task goes out in one message, and the server takes at most 4 MiB in
one: seen on the real server, three inputs of 1.5 MB asked for at once terminate the workflow. So
what does not fit waits for the next task. Outputs of local activities go out in the same message.
"""

import asyncio
from datetime import timedelta
from typing import Final

from temporalio import workflow

from .local_room import LocalRoom

MOST: Final = 3 * 1024 * 1024
"""Bytes of requests in one message; the rest is left for what the workflow itself sends."""

PAUSE: Final = timedelta(milliseconds=1)
"""The timer that ends a workflow task, so that a next one begins."""


MOST_PENDING: Final = 1_500
"""Executions of one run that are under way at once. The server takes 2,000 pending activities, and
fails the workflow task for ever beyond that; the rest is left for what is written by hand."""


class Outbox:
    """Counts what a run has sent in the present workflow task, and what is under way."""

    __slots__ = ("_order", "_sent", "_task", "local", "under_way")

    def __init__(self) -> None:
        self.under_way = asyncio.Semaphore(MOST_PENDING)
        self.local = LocalRoom()
        self._order = asyncio.Lock()
        self._sent = 0
        self._task = -1

    async def room(self, size: int) -> None:
        """Waits until a request fits, in the order of asking; most never wait.

        Args:
            size: Bytes of the request. One that is larger than all there is goes alone.
        """
        if self._order.locked() or not self._takes(size):
            async with self._order:
                while not self._takes(size):
                    await self.pause()
        self.local.beside += size

    async def local_room(self) -> None:
        """Waits until the output of one more local activity fits, in the order of asking.

        Whoever waited calls ``local.end`` when it has ended.
        """
        if not self._order.locked() and self.local.fits(MOST):
            self.local.begin()
            return
        async with self._order:
            while not self.local.fits(MOST):
                if self.local.running:
                    await self.local.one_ends()
                else:
                    await self.pause()
            self.local.begin()

    async def pause(self) -> None:
        """Ends the workflow task, as soon as no local activity runs in it."""
        sent = self.local.sent
        await workflow.sleep(PAUSE)
        self.local.flush(sent)

    def _takes(self, size: int) -> bool:
        # The length of the history tells workflow tasks apart, and is the same under replay.
        task = workflow.info().get_current_history_length()
        if task not in {self._task, self.local.doubtful_task}:
            self._task, self._sent = task, 0
        beside = self._sent + self.local.load
        if beside and beside + size > MOST:
            return False
        self._sent += size
        return True
