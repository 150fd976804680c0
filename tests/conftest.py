"""What every test may ask for: a server, a client, a queue of its own, processes to kill.

Real servers throughout. The session's server is shared (one in each process under pytest-xdist), so
a test takes its own `task_queue` and workflow ids; one that stops, kills or restarts a server makes
its own with `server_on_file`.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Protocol
from uuid import uuid4

import pytest
from temporalio.client import Client

from temperance.embedded import EmbeddedServer
from tests.support.docker import missing_docker
from tests.support.processes import WorkerProcess


class ServerOnFile(Protocol):
    """Starts a server on a file in the test's folder; the same name is the same file."""

    async def __call__(self, name: str = "temporal.db") -> EmbeddedServer: ...


class StartWorker(Protocol):
    """Starts `python -m module`, and returns when it has printed the line `ready`."""

    async def __call__(
        self,
        module: str,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        ready: str | None = "ready",
        timeout: timedelta = timedelta(seconds=30),
    ) -> WorkerProcess: ...


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what is marked `docker` where no Docker engine answers."""
    marked = [item for item in items if item.get_closest_marker("docker") is not None]
    if marked and (reason := missing_docker()) is not None:
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
async def embedded() -> AsyncIterator[EmbeddedServer]:
    """A server in memory, for the whole session. Never stop, kill or restart this one."""
    async with EmbeddedServer(headless=True) as server:
        yield server


@pytest.fixture(scope="session")
async def client(embedded: EmbeddedServer) -> Client:
    """A plain client of the session's server: no plugin."""
    return await embedded.connect()


@pytest.fixture
async def server_on_file(tmp_path: Path) -> AsyncIterator[ServerOnFile]:
    """Servers of the test's own, on files: to stop, kill and restart. None is left at the end."""
    async with AsyncExitStack() as servers:

        async def start(name: str = "temporal.db") -> EmbeddedServer:
            server = EmbeddedServer(
                db_path=tmp_path / name, headless=True, log_path=tmp_path / f"{name}.log"
            )
            servers.push_async_callback(end_at_once, server)
            await server.start()
            return server

        yield start


async def end_at_once(server: EmbeddedServer) -> None:
    """Leave nothing of a server that nobody needs any more; an orderly stop takes a second."""
    if server.running:
        await server.kill()
    await server.stop()


@pytest.fixture
async def worker_process(tmp_path: Path) -> AsyncIterator[StartWorker]:
    """Workers in processes of their own: to kill, suspend and continue. None is left at the end."""
    async with AsyncExitStack() as workers:

        async def start(
            module: str,
            *arguments: str,
            env: Mapping[str, str] | None = None,
            ready: str | None = "ready",
            timeout: timedelta = timedelta(seconds=30),
        ) -> WorkerProcess:
            worker = await WorkerProcess.start(
                module,
                *arguments,
                output_path=tmp_path / f"worker-{uuid4().hex[:8]}.out",
                env=env,
                ready=ready,
                timeout=timeout,
            )
            workers.push_async_callback(worker.reap)
            return worker

        yield start


@pytest.fixture
def task_queue(request: pytest.FixtureRequest) -> str:
    """A task queue that no other test uses, with the test's name in it."""
    node: pytest.Item = request.node
    return f"{node.name[:60]}-{uuid4().hex[:8]}"
