"""Where audit events go: the port, and the sinks that need nothing but the standard library."""

import os
import threading
from collections.abc import Awaitable
from pathlib import Path
from typing import Protocol, runtime_checkable

from .event import Event


@runtime_checkable
class Sink(Protocol):
    """Records events.

    ``record`` may be ``def`` or ``async def``. It is called at least once for each event; a sink
    that keeps a table makes ``event_id`` unique. Whatever it raises is reported and otherwise
    changes nothing, except in strict audit, where ``capability.started`` must be recorded.
    """

    def record(self, event: Event) -> Awaitable[None] | None:
        """Records one event."""
        ...


class MemorySink:
    """Keeps events in a list, for tests; drops what it already has."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._seen: set[str] = set()

    def record(self, event: Event) -> None:
        """Appends the event unless its id is known."""
        if event.event_id not in self._seen:
            self._seen.add(event.event_id)
            self.events.append(event)

    def types(self, execution_id: str | None = None) -> list[str]:
        """The types recorded, in order, of one execution or of all."""
        return [
            event.type
            for event in self.events
            if execution_id is None or event.execution_id == execution_id
        ]

    def clear(self) -> None:
        """Forgets everything."""
        self.events.clear()
        self._seen.clear()


class JsonlSink:
    """Appends each event as one line of JSON.

    Several processes may share a file: each line is one ``write`` to a descriptor opened for
    appending.

    Args:
        path: The file; its folder must exist.
        fsync: Whether each line is forced to the disk before ``record`` returns.

    Raises:
        OSError: The file cannot be opened or written.
    """

    def __init__(self, path: Path | str, *, fsync: bool = False) -> None:
        self.path = Path(path)
        self._fsync = fsync
        self._lock = threading.Lock()
        self._descriptor: int | None = None
        self._torn = False

    def record(self, event: Event) -> None:
        """Writes the line."""
        line = event.model_dump_json(exclude_none=True).encode() + b"\n"
        with self._lock:
            if self._descriptor is None:
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
                self._descriptor = os.open(self.path, flags, 0o644)
            if self._torn:
                line = b"\n" + line  # what is left of the last one must not spoil this one too
            written = os.write(self._descriptor, line)
            self._torn = written != len(line)
            if self._torn:
                raise OSError(
                    f"{self.path}: {written} of {len(line)} bytes of an event were written"
                )
            if self._fsync:
                os.fsync(self._descriptor)

    def close(self) -> None:
        """Closes the file; a later `record` opens it again."""
        with self._lock:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None
