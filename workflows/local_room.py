"""How much of a workflow task's message the outputs of local activities take (decision 0018).

Each local activity that ends in a task leaves its output in the message that ends the task. How
large it will be is known when it has ended: until then the largest is reckoned with.

What was sent before is known to be gone only after a timer of our own. The length of the history
would tell it sooner, but while local activities run the SDK asks the server for more time by tasks
of no content, which a replay does not see.
"""

import asyncio
from typing import Final

from ..runtime.placement import LARGEST

AROUND: Final = 640
"""Bytes of a marker around an output: its names, times and summary."""


class LocalRoom:
    """Counts the local activities of a run, in bytes; the same under replay."""

    __slots__ = ("_ended", "_gone", "beside", "doubtful_task", "running", "sent")

    def __init__(self) -> None:
        self.running = 0
        """How many have begun and not ended."""
        self.sent = 0
        """Bytes that all that ended have left, since the run began."""
        self.beside = 0
        """Bytes of requests that were sent beside them since the last pause."""
        self.doubtful_task = -1
        """The last workflow task that began before a replay may take it to, see `local_watch`."""
        self._gone = 0
        self._ended: asyncio.Future[None] | None = None

    @property
    def load(self) -> int:
        """Bytes that may still have to go, those of running ones included."""
        return self.sent - self._gone + self.running * (LARGEST + AROUND)

    def fits(self, most: int) -> bool:
        """Whether one more can begin; the first one always can.

        Args:
            most: Bytes of one message.
        """
        return not self.load or self.load + self.beside + LARGEST + AROUND <= most

    def begin(self) -> None:
        """Notes that one begins."""
        self.running += 1

    def end(self, size: int) -> None:
        """Notes that one has ended.

        Args:
            size: Bytes of its output.
        """
        self.running -= 1
        self.sent += size + AROUND
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)

    async def one_ends(self) -> None:
        """Waits until one that runs has ended."""
        self._ended = asyncio.get_running_loop().create_future()
        await self._ended

    def flush(self, sent: int) -> None:
        """Notes that a workflow task has ended.

        Args:
            sent: What `sent` was before it did.
        """
        self._gone = sent
        self.beside = 0
