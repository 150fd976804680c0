"""What became of an approval, on its way to the audit (DESIGN section 9)."""

from pydantic import BaseModel, ConfigDict

from .approval import ApprovalRecord
from .names import Effect, EventType


class ApprovalNote(BaseModel):
    """What the activity that records approvals is given.

    Args:
        record: The approval, in the state that was reached.
        types: The events to record, in their order.
        execution_id: Whose event; the record's own execution unless given.
        effect: What is known of the world, where the event closes the trail.
        correlation_id: The application's own id.
        repeat_of: First execution in the asking workflow that asked for the same.
        rerun: Whether the approval was reset, so that it may have been decided before.
    """

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    record: ApprovalRecord
    types: tuple[EventType, ...]
    execution_id: str | None = None
    effect: Effect | None = None
    correlation_id: str | None = None
    repeat_of: str | None = None
    rerun: bool = False
