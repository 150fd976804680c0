"""The default sink: audit events as structlog lines."""

from collections.abc import Callable
from typing import Protocol, cast

import structlog

from ..runtime.event import Event


class EventLogger(Protocol):
    """What this sink needs of a logger."""

    def info(self, event: str, **fields: object) -> object:
        """Logs at level info."""
        ...


class StructlogSink:
    """Writes each event through structlog, as the application configured it.

    A logger that has a method ``write_event`` is given the event itself: the one that
    `temperance.logging.configure_logging` sets up does, and writes the same line in less than half
    of the time.

    Args:
        logger: The logger to write to; ``structlog.get_logger("temperance.audit")`` unless given.
    """

    def __init__(self, logger: EventLogger | None = None) -> None:
        self._logger = logger or cast(EventLogger, structlog.get_logger("temperance.audit"))
        self._write_event: Callable[[Event], None] | None = None

    def record(self, event: Event) -> None:
        """Logs the event's type with its other fields; fields without a value are left out."""
        if self._write_event is None:
            # Asked again until it is there: structlog may be configured after the sink is made.
            self._write_event = getattr(self._logger, "write_event", None)
        if self._write_event is not None:
            self._write_event(event)
            return
        fields = event.model_dump(mode="json", exclude_none=True, exclude={"type"})
        self._logger.info(event.type, **fields)
