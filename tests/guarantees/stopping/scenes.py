"""What a test and a handler in the same process tell each other, by the name of a case."""

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable

from tests.support.waiting import wait_until


class Scene:
    """One case: what happened in it, in order, and what its handler waits for."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.notes: list[str] = []
        self.entries = 0
        self.started = asyncio.Event()
        self.gate = asyncio.Event()
        self.over = threading.Event()
        self.token = b""

    def enter(self) -> None:
        """Notes that a handler was entered."""
        self.entries += 1
        self.notes.append("entered")
        self.started.set()
        for tell in ON_ENTRY:
            tell()

    def enter_from_thread(self) -> None:
        """The same, of a handler that runs in a thread."""
        self.entries += 1
        self.notes.append("entered")
        self.loop.call_soon_threadsafe(self.started.set)

    async def until_noted(self, note: str) -> None:
        """Waits until this has been noted."""

        async def noted() -> bool:
            return note in self.notes

        await wait_until(noted)

    async def until_started(self) -> None:
        """Waits until a handler was entered."""
        async with asyncio.timeout(20):
            await self.started.wait()


ON_ENTRY: list[Callable[[], None]] = []
"""Told of each entry, in a worker that has a process of its own."""

SCENES: defaultdict[str, Scene] = defaultdict(Scene)
"""The scenes of this process. A test names its own, so nothing is ever removed."""
