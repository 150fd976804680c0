"""One line of a worker's log: how it looks, and how it is written.

Everything that a worker logs ends here, whoever logs it: structlog, the standard library, the
Temporal SDK and its Rust core.
"""

import json
import os
import select
import threading
from datetime import UTC, datetime
from typing import Any, Final, Protocol, TextIO

import structlog

from temperance.runtime.event import Event

try:
    import orjson
except ModuleNotFoundError:  # the extra `fast` is not installed
    orjson = None  # type: ignore[assignment] # a module or nothing
    _options = 0
else:
    _options = (
        orjson.OPT_APPEND_NEWLINE
        | orjson.OPT_NON_STR_KEYS
        | orjson.OPT_PASSTHROUGH_DATACLASS
        | orjson.OPT_UTC_Z
    )

Fields = dict[str, Any]  # whatever an application logs

AUDIT_LOGGER: Final = "temperance.audit"

_WHOLE: Final[int] = getattr(select, "PIPE_BUF", 512)
"""Bytes that the system writes to a pipe in one piece, whoever else writes."""

_SEEN_IN_A_TERMINAL: Final = (
    "capability",
    "surface",
    "workflow_id",
    "attempt",
    "previous_error",
    "effect",
    "error_code",
    "reason",
    "duration_ms",
)


class Layout(Protocol):
    """How a line looks."""

    def line(self, fields: Fields) -> bytes:
        """The line, its end included."""
        ...

    def event_line(self, event: Event) -> bytes:
        """The line of an audit event."""
        ...


class JsonLayout:
    """One JSON object a line: ``timestamp``, ``level``, ``logger``, ``event``, then the rest."""

    def line(self, fields: Fields) -> bytes:
        """The line. What JSON does not know is written as its text."""
        fields = {"timestamp": fields.pop("timestamp", None) or datetime.now(UTC), **fields}
        try:
            return _dumps(fields)
        except Exception as error:  # noqa: BLE001 - an application's object, say one within itself
            kept: Fields = {
                key: fields[key] for key in ("timestamp", "level", "logger") if key in fields
            }
            return _dumps({**kept, "event": str(fields["event"]), "left_out": type(error).__name__})

    def event_line(self, event: Event) -> bytes:
        """The line of an audit event, with all its fields that have a value."""
        given = event.__dict__
        fields: Fields = {
            "timestamp": given["at"],
            "level": "info",
            "logger": AUDIT_LOGGER,
            "event": given["type"],
        }
        # Not `model_dump`, which takes twice as long: the values are plain as they are.
        for key, value in given.items():
            if value is not None:
                fields[key] = value
        del fields["type"]
        return _dumps(fields)


class ConsoleLayout:
    """Lines for a person: time of day, level, text, then ``key=value``.

    Of an audit event a person sees what happened to what, not all its ids.

    Args:
        colours: Whether the terminal shows them.
    """

    def __init__(self, *, colours: bool) -> None:
        self._render = structlog.dev.ConsoleRenderer(
            colors=colours,
            pad_event_to=28,
            exception_formatter=structlog.dev.plain_traceback,
        )

    def line(self, fields: Fields) -> bytes:
        """The line; an exception follows it on lines of its own."""
        given = fields.get("timestamp")
        at = given if isinstance(given, datetime) else datetime.now(UTC)
        fields["timestamp"] = at.astimezone().strftime("%H:%M:%S")
        return f"{self._render(None, '', fields)}\n".encode(errors="backslashreplace")

    def event_line(self, event: Event) -> bytes:
        """The line of an audit event."""
        seen = {key: getattr(event, key) for key in _SEEN_IN_A_TERMINAL}
        return self.line(
            {
                "timestamp": event.at,
                "level": "info",
                "event": event.type,
                "actor": f"{event.actor_kind}:{event.actor_id}",
                **{key: value for key, value in seen.items() if value is not None},
            }
        )


class Lines:
    """Writes whole lines, from any thread.

    A line that cannot be written is dropped: a log must not fail the work that it tells of.

    Args:
        stream: Where they go; its file descriptor is written to directly where it has one.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        try:
            self._descriptor: int | None = stream.fileno()
        except (AttributeError, OSError, ValueError):
            self._descriptor = None

    def write(self, line: bytes) -> None:
        """Writes one line, its end included."""
        try:
            if self._descriptor is None:
                with self._lock:
                    self._stream.write(line.decode(errors="replace"))
            elif len(line) <= _WHOLE:
                os.write(self._descriptor, line)
            else:
                with self._lock:
                    while line:
                        line = line[os.write(self._descriptor, line) :]
        except (OSError, ValueError):
            pass


def _dumps(fields: Fields) -> bytes:
    if orjson is not None:
        try:
            return orjson.dumps(fields, default=_plain, option=_options)
        except TypeError:
            # Numbers over 64 bits, half of a surrogate pair: the standard library writes them.
            pass
    text = json.dumps(fields, default=_plain, separators=(",", ":"), skipkeys=True)
    return text.encode() + b"\n"


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        text = value.isoformat()
        return f"{text[:-6]}Z" if value.tzinfo is UTC else text
    return str(value)
