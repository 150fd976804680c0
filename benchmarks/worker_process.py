"""Runs the worker under test as a process of its own, and asks it for what it measured."""

import asyncio
import json
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from pydantic import TypeAdapter

from temperance.server_process import bound_to_this_process

from .stopwatch import Lap

_COUNTS: Final = TypeAdapter(dict[str, int])
_LAPS: Final = TypeAdapter(list[Lap])


class WorkerProcess:
    """An async context manager: the worker runs inside of it.

    Args:
        host: The server.
        kind: With the plugin or without, or another arm of the module; also the name of its task
            queue.
        folder: For the audit lines it writes.
        module: What the process runs.
    """

    def __init__(
        self, host: str, kind: str, folder: Path, *, module: str = "benchmarks.worker"
    ) -> None:
        self._module = module
        self.task_queue: str = kind
        self._arguments = (host, kind, str(folder), kind)
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        command = [sys.executable, "-m", self._module, *self._arguments]
        self._process = await asyncio.create_subprocess_exec(
            *bound_to_this_process(command),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=16 * 1024 * 1024,
        )
        if await self._read() != "ready":
            raise RuntimeError("the worker did not say that it is ready")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        process = self._running()
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(20):
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def ended(self) -> None:
        """Waits until the process has ended."""
        await self._running().wait()

    async def cpu_ns(self) -> int:
        """Processor time of the process so far, in nanoseconds."""
        answer = await self._ask("cpu")
        if not isinstance(answer, int):
            raise TypeError(f"no number: {answer!r}")
        return answer

    async def imports(self) -> int:
        """How often the process has imported the catalogue."""
        answer = await self._ask("imports")
        if not isinstance(answer, int):
            raise TypeError(f"no number: {answer!r}")
        return answer

    async def effects(self) -> dict[str, int]:
        """How often a tool took effect in the process, by order."""
        return _COUNTS.validate_python(await self._ask("effects"))

    async def take_laps(self) -> list[Lap]:
        """What its stopwatch noted since this was asked last."""
        return _LAPS.validate_python(await self._ask("laps"))

    async def _ask(self, command: str) -> object:
        process = self._running()
        if process.stdin is None:
            raise RuntimeError("the worker has no input")
        process.stdin.write(f"{command}\n".encode())
        await process.stdin.drain()
        return await self._read()

    async def _read(self) -> object:
        process = self._running()
        line = b"" if process.stdout is None else await process.stdout.readline()
        if not line:
            raise RuntimeError(f"the worker ended ({await process.wait()})")
        answer: object = json.loads(line)
        return answer

    def _running(self) -> asyncio.subprocess.Process:
        if self._process is None:
            raise RuntimeError("the worker was not started")
        return self._process
