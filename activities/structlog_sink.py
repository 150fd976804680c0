"""The default sink: audit events as structlog lines."""

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

    Args:
        logger: The logger to write to; ``structlog.get_logger("temperance.audit")`` unless given.
    """

    def __init__(self, logger: EventLogger | None = None) -> None:
        self._logger = logger or cast(EventLogger, structlog.get_logger("temperance.audit"))

    def record(self, event: Event) -> None:
        """Logs the event's type with its other fields; fields without a value are left out."""
        fields = event.model_dump(mode="json", exclude_none=True, exclude={"type"})
        self._logger.info(event.type, **fields)
