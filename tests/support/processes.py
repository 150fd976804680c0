"""A worker in a process of its own, to be killed, suspended and continued by a test."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Self

from temperance.server_process import bound_to_this_process
from tests.support.waiting import wait_until

_ROOT = Path(__file__).parents[2]


class WorkerProcess:
    """One `python -m MODULE`, made by `start`. Its output, errors included, goes to a file."""

    def __init__(self, process: asyncio.subprocess.Process, output_path: Path) -> None:
        self._process = process
        self._output_path = output_path

    @classmethod
    async def start(
        cls,
        module: str,
        *arguments: str,
        output_path: Path,
        env: Mapping[str, str] | None = None,
        ready: str | None = "ready",
        timeout: timedelta = timedelta(seconds=30),
    ) -> Self:
        """Start it, and return when it has printed the line `ready` (at once where that is None).

        `env` is added to this process's environment. The module is found from the root of the
        project.

        Raises:
            AssertionError: it ended, or was not ready in time; the message has its output.
        """
        paths = [str(_ROOT), str(_ROOT / "examples"), os.environ.get("PYTHONPATH")]
        command = bound_to_this_process([sys.executable, "-m", module, *arguments])
        with output_path.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=_ROOT,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(filter(None, paths)),
                    "PYTHONSAFEPATH": "1",
                    "PYTHONUNBUFFERED": "1",
                    **(env or {}),
                },
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        worker = cls(process, output_path)
        if ready is not None:
            try:
                await worker.until_line(ready, timeout)
            except BaseException:
                await worker.reap()
                raise
        return worker

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs or is suspended; negative when a signal ended it."""
        return self._process.returncode

    def output(self) -> str:
        """What it has written so far."""
        return self._output_path.read_text(errors="replace")

    async def until_line(
        self, line: str, timeout: timedelta = timedelta(seconds=30), *, times: int = 1
    ) -> None:
        """Wait until it has printed `line`, on a line of its own, so many times.

        Raises:
            AssertionError: it ended before, or the time is over.
        """

        async def printed() -> bool:
            # Asked before the output is read: what it wrote before it ended still counts.
            ended = self.exit_code is not None
            if self.output().splitlines().count(line) >= times:
                return True
            if ended:
                raise AssertionError(
                    f"the process ended ({self.exit_code}) before {line!r}:\n{self.output()}"
                )
            return False

        try:
            await wait_until(printed, timeout)
        except AssertionError as error:
            error.add_note(f"its output so far:\n{self.output()}")
            raise

    def kill(self) -> None:
        """SIGKILL: it is gone between two instructions."""
        self._process.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """SIGTERM: it may finish what it does."""
        self._process.send_signal(signal.SIGTERM)

    def suspend(self) -> None:
        """SIGSTOP: it stands still and does not know it."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        self._process.send_signal(signal.SIGCONT)

    async def wait(self, timeout: timedelta = timedelta(seconds=30)) -> int:
        """Wait until it has ended, and return the exit code."""
        async with asyncio.timeout(timeout.total_seconds()):
            return await self._process.wait()

    async def reap(self) -> None:
        """End it whatever it does, also while suspended, and leave nothing behind."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
