"""The staff: worker processes of the operating system, to be started, killed and stopped."""

import asyncio
import os
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from .premises import HOME_VARIABLE

STOP_SECONDS = 15.0
"""How long a worker may take to finish what it does before it is killed."""

_TAIL_LINES = 15


class WorkerEndedError(Exception):
    """Raised when a worker process ends by itself. The message has the end of its log."""


class Worker:
    """One worker process. Its output goes to a file."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, log: Path) -> None:
        self.name = name
        self.log = log
        self.dismissed = False
        self.killed_at: datetime | None = None
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    async def kill(self) -> None:
        """Ends it at once (SIGKILL), as a crash does."""
        self.dismissed = True
        self.killed_at = datetime.now(UTC)
        self._process.kill()
        await self._process.wait()

    async def stop(self) -> None:
        """Lets it finish what it does (SIGTERM), for a while."""
        self.dismissed = True
        with suppress(ProcessLookupError):
            self._process.terminate()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await self._process.wait()
        except TimeoutError:
            await self.kill()

    async def until_it_ends(self) -> None:
        """Waits until it ends.

        Raises:
            WorkerEndedError: nobody had asked it to.
        """
        code = await self._process.wait()
        if not self.dismissed:
            tail = self.log.read_text(errors="replace").splitlines()[-_TAIL_LINES:]
            raise WorkerEndedError("\n".join([f"{self.name} ended with code {code}:", *tail]))


class Staff:
    """All workers of a run. As a context manager it leaves none behind.

    `names` has the name of every worker, dead ones too, by process id.
    """

    def __init__(self, home: Path, address: str) -> None:
        self._home = home
        self._workers: list[Worker] = []
        self.names: dict[int, str] = {}
        self._profile = home / "temporal.toml"
        self._profile.write_text(f'[profile.default]\naddress = "{address}"\n')

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await asyncio.gather(*(worker.stop() for worker in self._workers if not worker.dismissed))

    async def hire(self) -> Worker:
        """Starts another worker process: `temperance worker support_desk.app:app`.

        A profile of its own tells it the server, whatever connection the user has set up. It has a
        session of its own: Ctrl-C in a terminal reaches the demo, which then stops its workers in
        good order.
        """
        name = f"worker-{len(self._workers) + 1}"
        log = self._home / f"{name}.log"
        others = {k: v for k, v in os.environ.items() if not k.startswith("TEMPORAL_")}
        path = os.pathsep.join(
            [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
        )
        with log.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                *[sys.executable, "-m", "temperance.cli", "worker", "support_desk.app:app"],
                *["--config-file", str(self._profile)],
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**others, HOME_VARIABLE: str(self._home), "PYTHONPATH": path},
                start_new_session=True,
            )
        worker = Worker(name, process, log)
        self._workers.append(worker)
        self.names[worker.pid] = name
        return worker
