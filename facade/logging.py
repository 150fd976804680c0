"""The log of a worker: one pipeline for whatever logs, JSON lines or a terminal's.

```python
from temperance.logging import configure_logging

configure_logging()  # JSON lines, or for a person where standard error is a terminal
```

structlog, the standard library's `logging`, and through it the Temporal SDK, all end in the same
lines. A line that a handler logs carries the execution it belongs to; one that workflow code logs
carries its workflow, and is not repeated by a replay. No line holds a payload.

`temperance worker` and `temperance dev` call this. An application that configures structlog and
`logging` itself loses nothing of the guarantees but "no payload": at level DEBUG the SDK logs
whole messages of the server.
"""

import logging
import os
import sys
from datetime import UTC, datetime
from typing import Any, Final, Literal, TextIO, get_args

import structlog
import temporalio.activity
import temporalio.workflow
from temporalio.runtime import (
    LogForwardingConfig,
    LoggingConfig,
    Runtime,
    TelemetryConfig,
    TelemetryFilter,
)

from temperance.activities.attempt_log import quiet_attempt_failures
from temperance.log_line import ConsoleLayout, Fields, JsonLayout, Layout, Lines
from temperance.log_record import exception_text, fields_of, is_replaying, workflow_fields
from temperance.runtime.event import Event
from temperance.runtime.shape import is_tuple

LogFormat = Literal["auto", "json", "console"]
LogLevel = Literal["debug", "info", "warning", "error"]

FORMATS: Final[tuple[LogFormat, ...]] = get_args(LogFormat)
LEVELS: Final[tuple[LogLevel, ...]] = get_args(LogLevel)

_LEVEL_NAMES: Final = {"exception": "error", "warn": "warning", "fatal": "critical", "msg": "info"}


def configure_logging(
    format: LogFormat = "auto",  # noqa: A002 - the word that the command line uses too
    level: LogLevel = "info",
    *,
    stream: TextIO | None = None,
) -> None:
    """Configures structlog and `logging` of this process; called again, it replaces itself.

    Args:
        format: ``json``, ``console``, or ``auto``: ``console`` where the stream is a terminal.
            The extra ``fast`` makes JSON lines cheaper.
        level: The least level that is written. Of the Temporal SDK nothing under ``info`` is, as
            its debug lines hold payloads.
        stream: Where the lines go; standard error unless given.

    Raises:
        ValueError: An unknown format or level; or no stream, where there is no standard error.
    """
    if format not in FORMATS:
        raise ValueError(f"log format {format!r} is unknown: give one of {', '.join(FORMATS)}")
    if level not in LEVELS:
        raise ValueError(f"log level {level!r} is unknown: give one of {', '.join(LEVELS)}")
    output = stream or sys.stderr
    if output is None:
        raise ValueError("this process has no standard error: give a stream")
    pipeline = _Pipeline(_layout(format, output), Lines(output))
    least: int = getattr(logging, level.upper())
    structlog.configure(
        processors=[pipeline.process],
        wrapper_class=_bound_logger(least, pipeline),
        context_class=dict,
        logger_factory=pipeline.logger,
        cache_logger_on_first_use=True,
    )
    root = logging.getLogger()
    root.handlers[:] = [entry for entry in root.handlers if not isinstance(entry, _Records)]
    root.addHandler(_Records(pipeline))
    root.setLevel(least)
    logging.captureWarnings(True)
    # They would be in the text, and are fields already.
    temporalio.activity.logger.activity_info_on_message = False
    temporalio.workflow.logger.workflow_info_on_message = False
    quiet_attempt_failures()


def logging_runtime() -> Runtime:
    """An SDK runtime whose Rust core logs into the same pipeline, from level WARN on."""
    return Runtime(
        telemetry=TelemetryConfig(
            logging=LoggingConfig(
                filter=TelemetryFilter(core_level="WARN", other_level="ERROR"),
                forwarding=LogForwardingConfig(
                    logger=logging.getLogger("temporalio.core"),
                    append_target_to_name=False,
                    prepend_target_on_message=False,
                ),
            )
        )
    )


class _Pipeline:
    """From what was logged to the written line."""

    def __init__(self, layout: Layout, lines: Lines) -> None:
        self._layout = layout
        self._write = lines.write

    def logger(self, *names: object) -> "_Output":
        """What structlog calls for a new logger."""
        return _Output(str(names[0]) if names else "root", self._write)

    def process(self, output: "_Output", method: str, logged: Any) -> bytes:
        """The one structlog processor: the rendered line.

        Raises:
            structlog.DropEvent: The line was written before the replay.
        """
        if is_replaying():
            raise structlog.DropEvent
        fields: Fields = {
            "level": _LEVEL_NAMES.get(method, method),
            "logger": output.name,
            "event": logged.pop("event", ""),
            **workflow_fields(),
            **structlog.contextvars.get_contextvars(),
            **logged,
        }
        error = _error_of(fields.pop("exc_info", None))
        if error is not None:
            fields["exception"] = exception_text(error)
        return self._layout.line(fields)

    def write_record(self, record: logging.LogRecord) -> None:
        """Writes a record of the standard library."""
        if is_replaying():
            return
        own = fields_of(record)
        fields: Fields = {
            "timestamp": datetime.fromtimestamp(record.created, UTC),
            "level": own.pop("level"),
            "logger": own.pop("logger"),
            "event": own.pop("event"),
            **workflow_fields(),
            **structlog.contextvars.get_contextvars(),
            **own,
        }
        self._write(self._layout.line(fields))

    def write_failure(self, name: str, error: Exception) -> None:
        """Writes that a line could not be made, and nothing of what was in it."""
        text = f"a log record could not be written ({type(error).__name__})"
        self._write(self._layout.line({"level": "error", "logger": name, "event": text}))

    def write_event(self, event: Event) -> None:
        """Writes an audit event."""
        self._write(self._layout.event_line(event))


class _Output:
    """What structlog takes for the wrapped logger: it knows its name, and writes."""

    __slots__ = ("_write", "name")

    def __init__(self, name: str, write: Any) -> None:
        self.name = name
        self._write = write

    def __getattr__(self, method: str) -> Any:
        """Any of structlog's log methods: all of them write."""
        if method.startswith("_"):
            raise AttributeError(method)
        return self._write


class _Records(logging.Handler):
    """Takes the records of the standard library."""

    def __init__(self, pipeline: _Pipeline) -> None:
        super().__init__()
        self._pipeline = pipeline

    def filter(self, record: logging.LogRecord) -> bool:
        """The SDK logs whole messages of the server at DEBUG: payloads."""
        return record.levelno >= logging.INFO or not record.name.startswith("temporalio")

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._pipeline.write_record(record)
        except Exception as error:  # noqa: BLE001 - a record must not fail the work that it tells of
            # Not `handleError`: it would print the record's arguments.
            self._pipeline.write_failure(record.name, error)


def _bound_logger(least: int, pipeline: _Pipeline) -> Any:
    """Filtering as structlog does it, and a shorter way for audit events (DESIGN section 12)."""
    filtering = structlog.make_filtering_bound_logger(least)

    def nothing(event: Event) -> None:
        del event

    write = pipeline.write_event if least <= logging.INFO else nothing
    return type("TemperanceLogger", (filtering,), {"write_event": staticmethod(write)})


def _layout(wanted: LogFormat, stream: TextIO) -> Layout:
    terminal = stream.isatty()
    if wanted == "console" or (wanted == "auto" and terminal):
        return ConsoleLayout(colours=terminal and not os.environ.get("NO_COLOR"))
    return JsonLayout()


def _error_of(given: object) -> BaseException | None:
    """The exception behind what a caller may pass as ``exc_info``."""
    if isinstance(given, BaseException):
        return given
    if is_tuple(given):
        return next((part for part in given if isinstance(part, BaseException)), None)
    return sys.exc_info()[1] if given else None
