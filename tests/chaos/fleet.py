"""The processes of a chaos run: one server on a file, and workers that are started again."""

import asyncio
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Literal

from temporalio.client import Client

from temperance import TemperancePlugin
from temperance.embedded import EmbeddedServer
from tests.chaos.capabilities import app_of
from tests.chaos.ledger import Ledger
from tests.support.processes import WorkerProcess

Build = Literal["new", "old"]

QUEUE = "chaos"
BUILDS: tuple[Build, ...] = ("new", "new", "old")
STANDS_STILL = (1.8, 3.0)
"""Seconds; longer than the server waits for most attempts (1.4)."""

STANDS_LONG = (10.5, 13.0)
"""Seconds; longer than the server waits for a heartbeat (10), or for the long attempts (12)."""


class Fleet:
    """The server and the workers. Whatever ends is started again, until the fleet is closed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ledger = Ledger(folder / "ledger.db")
        self.server = EmbeddedServer(
            db_path=folder / "temporal.db", headless=True, log_path=folder / "server.log"
        )
        self.deaths = 0
        self.disturbed: set[int] = set()
        """Processes that died, or stood still for a time."""
        self.away: list[tuple[float, float]] = []
        """From when to when, in Unix time, the server was away."""
        self._workers: dict[int, WorkerProcess] = {}
        self._keepers: list[asyncio.Task[None]] = []
        self._started = 0

    async def open(self) -> Client:
        """Start everything; gives a client."""
        (self.folder / "audit").mkdir()
        self.ledger.create()
        await self.server.start()
        for place, build in enumerate(BUILDS):
            self._keepers.append(asyncio.create_task(self._keep(place, build)))
        return await Client.connect(
            self.server.target_host, plugins=[TemperancePlugin(app_of(self.ledger, []))]
        )

    async def close(self) -> None:
        """End everything."""
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        for worker in self._workers.values():
            await worker.reap()
        if self.server.running:
            await self.server.kill()
        await self.server.stop()

    def kill(self, rng: Random) -> None:
        """SIGKILL a worker."""
        with suppress(ProcessLookupError, IndexError):
            self._any(rng).kill()

    def terminate(self, rng: Random) -> None:
        """SIGTERM a worker."""
        with suppress(ProcessLookupError, IndexError):
            self._any(rng).terminate()

    async def suspend(self, rng: Random, seconds: tuple[float, float] = STANDS_STILL) -> None:
        """Let a worker stand still for longer than the server waits, and then go on."""
        with suppress(ProcessLookupError, IndexError):
            worker = self._any(rng)
            self.disturbed.add(worker.pid)
            worker.suspend()
            try:
                await asyncio.sleep(rng.uniform(*seconds))
            finally:
                worker.resume()

    async def restart_server(self, rng: Random) -> None:
        """Kill the server, and start it again on the same file and port."""
        begun = time.time()
        await self.server.kill()
        await asyncio.sleep(rng.uniform(0, 0.5))
        await self.server.start()
        self.away.append((begun, time.time()))

    def _any(self, rng: Random) -> WorkerProcess:
        running = [entry for entry in self._workers.values() if entry.exit_code is None]
        if not running:
            raise IndexError("no worker runs")
        return rng.choice(running)

    async def _keep(self, place: int, build: Build) -> None:
        """Keep one worker of this build running."""
        arguments = (self.server.target_host, QUEUE, str(self.folder), "--build", build)
        while True:
            self._started += 1
            worker = await WorkerProcess.start(
                "tests.chaos.worker_main",
                *arguments,
                output_path=self.folder / f"worker-{self._started}.out",
                ready=None,
            )
            self._workers[place] = worker
            await worker.wait(timedelta(days=1))
            self.deaths += 1
            self.disturbed.add(worker.pid)
            # One that cannot reach the server ends at once.
            await asyncio.sleep(0.1)
