"""The audit sinks that are measured."""

import logging
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import BinaryIO, TextIO, cast

import orjson
import structlog

from temperance import Event, Sink
from temperance.activities.structlog_sink import EventLogger, StructlogSink
from temperance.logging import configure_logging


class NullSink:
    """Takes events and drops them."""

    def record(self, event: Event) -> None:
        """Drops the event."""


@dataclass(frozen=True, slots=True)
class SinkByCapability:
    """Gives each capability's events to a sink of its own.

    Args:
        sinks: By capability id.
    """

    sinks: Mapping[str, Sink]

    def record(self, event: Event) -> Awaitable[None] | None:
        """Hands the event on."""
        return self.sinks[event.capability or ""].record(event)


def json_lines(stream: TextIO) -> StructlogSink:
    """Structlog as `temperance worker` sets it up: a line of JSON for each event, written at once.

    It sets up the logging of the whole process.
    """
    configure_logging("json", stream=stream)
    return StructlogSink()


def own_lines(file: BinaryIO) -> StructlogSink:
    """Structlog as a service may set it up itself: a renderer with orjson, one write for each."""
    logger = structlog.wrap_logger(
        structlog.BytesLogger(file),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.JSONRenderer(serializer=orjson.dumps),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )
    return StructlogSink(cast(EventLogger, logger))
