"""Takes samples of the worker and the server, every few seconds."""

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from temperance.embedded import EmbeddedServer
from temperance.server_process import bound_to_this_process

from .load import Load
from .size import open_files, resident_mib, stored_mib


@dataclass(frozen=True)
class Sample:
    """How big everything is at one moment.

    Args:
        seconds: Since the soak began.
        worker_mib: Resident memory of the worker.
        plain_mib: Resident memory of the control, a worker without the library.
        tasks: Its asyncio tasks.
        threads: Its Python threads, but for those of the pools.
        pooled: Those.
        objects: What its garbage collector knows, after a collection.
        cached: Entries in the caches of the library.
        files: Its file descriptors; 0 where the system does not tell.
        server_mib: Resident memory of the server.
        server_files: Its file descriptors.
        stored_mib: The database on disk.
        events: How many audit events the worker recorded so far.
        runs: Workflow runs that ended so far, the control's included.
        open: Requests under way.
    """

    seconds: float
    worker_mib: float
    plain_mib: float
    tasks: int
    threads: int
    pooled: int
    objects: int
    cached: int
    files: int
    server_mib: float
    server_files: int
    stored_mib: float
    events: int
    runs: int
    open: int


class Told(TypedDict):
    """What the worker says of itself."""

    tasks: int
    threads: int
    pooled: int
    objects: int
    cached: int
    events: dict[str, int]


_TOLD: Final = TypeAdapter(Told)


class Watched:
    """A worker process; an async context manager.

    Args:
        host: The server that it works for.
        kind: With the plugin, or the control without.
    """

    def __init__(self, host: str, kind: Literal["governed", "plain"]) -> None:
        self._arguments = (host, kind)
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        command = [sys.executable, "-m", "benchmarks.soak.worker", *self._arguments]
        self._process = await asyncio.create_subprocess_exec(
            *bound_to_this_process(command),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        if json.loads(await self._line()) != "ready":
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
            async with asyncio.timeout(30):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._running().pid

    async def told(self) -> Told:
        """What it says of itself, after a collection.

        Raises:
            RuntimeError: The worker ended.
        """
        process = self._running()
        if process.stdin is None:
            raise RuntimeError("the worker has no input")
        process.stdin.write(b"\n")
        await process.stdin.drain()
        return _TOLD.validate_json(await self._line())

    async def _line(self) -> bytes:
        process = self._running()
        while True:
            line = b"" if process.stdout is None else await process.stdout.readline()
            if not line:
                raise RuntimeError(f"the worker ended ({await process.wait()})")
            if line[:1] in {b"{", b'"'}:
                return line
            sys.stderr.buffer.write(line)  # the SDK's core writes its warnings there

    def _running(self) -> asyncio.subprocess.Process:
        if self._process is None:
            raise RuntimeError("the worker was not started")
        return self._process


@dataclass(frozen=True)
class Site:
    """What is looked at.

    Args:
        server: The server.
        database: Its file.
        worker: The worker with the plugin.
        plain: The control.
        load: What is asked for.
    """

    server: EmbeddedServer
    database: Path
    worker: Watched
    plain: Watched
    load: Load


async def sample(seconds: float, site: Site) -> tuple[Sample, dict[str, int]]:
    """Takes one sample.

    Args:
        seconds: Since the soak began.
        site: What to look at.

    Returns:
        The sample, and how many audit events of each type there were so far.

    Raises:
        RuntimeError: A worker or the server ended.
    """
    server = site.server.pid
    if server is None:
        raise RuntimeError("the server ended")
    told = await site.worker.told()
    await site.plain.told()  # it collects its garbage too
    taken = Sample(
        seconds=seconds,
        worker_mib=resident_mib(site.worker.pid),
        plain_mib=resident_mib(site.plain.pid),
        tasks=told["tasks"],
        threads=told["threads"],
        pooled=told["pooled"],
        objects=told["objects"],
        cached=told["cached"],
        files=open_files(site.worker.pid) or 0,
        server_mib=resident_mib(server),
        server_files=open_files(server) or 0,
        stored_mib=stored_mib(site.database),
        events=sum(told["events"].values()),
        runs=site.load.runs,
        open=site.load.open,
    )
    return taken, told["events"]
