"""What one activity leaves in a workflow's history."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent

_OF_ACTIVITIES = {
    EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
    EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED,
    EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED,
}


@dataclass(frozen=True, slots=True)
class Trace:
    """What one activity left.

    Args:
        type: The activity type.
        names: The types of all events from its scheduling to the next one's, in order.
        activity_bytes: Size of its own three events.
    """

    type: str
    names: tuple[str, ...]
    activity_bytes: int

    @property
    def activity_events(self) -> int:
        """How many of the events are its own."""
        return sum(name.startswith("ACTIVITY_TASK_") for name in self.names)


def traces_of(events: Iterable[HistoryEvent]) -> list[Trace]:
    """Splits a history in which one activity follows the other.

    Args:
        events: The whole history of a workflow that schedules each activity after the one before.

    Returns:
        One trace for each activity. The workflow task that schedules the next one belongs to it; to
        the last one, what ends the workflow does too.
    """
    parts: list[list[HistoryEvent]] = []
    for event in events:
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
            parts.append([])
        if parts:
            parts[-1].append(event)
    return [_trace(part) for part in parts]


def _trace(part: Sequence[HistoryEvent]) -> Trace:
    return Trace(
        type=part[0].activity_task_scheduled_event_attributes.activity_type.name,
        names=tuple(EventType.Name(event.event_type).removeprefix("EVENT_TYPE_") for event in part),
        activity_bytes=sum(
            event.ByteSize() for event in part if event.event_type in _OF_ACTIVITIES
        ),
    )
