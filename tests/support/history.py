"""What the server has recorded of a workflow."""

from collections.abc import Iterable

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client


async def history_events(
    client: Client, workflow_id: str, run_id: str | None = None
) -> list[HistoryEvent]:
    """All events of one run, the latest where none is named."""
    handle = client.get_workflow_handle(workflow_id, run_id=run_id)
    return [event async for event in handle.fetch_history_events()]


def event_names(events: Iterable[HistoryEvent]) -> list[str]:
    """The types of the events, such as `ACTIVITY_TASK_SCHEDULED`, in their order."""
    return [EventType.Name(event.event_type).removeprefix("EVENT_TYPE_") for event in events]
