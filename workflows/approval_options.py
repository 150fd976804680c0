"""What an approval is started with, by a workflow and by a client alike."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from ..runtime.actor import Actor
from ..runtime.approval import ApprovalRecord, ApprovalRequest, approval_id
from ..runtime.call import Asked as Demand
from ..runtime.capability import Capability
from ..runtime.envelope import Failed
from ..runtime.error import CapabilityError
from ..runtime.names import APPROVAL_MEMO, Surface

MEMO: Final = APPROVAL_MEMO
"""The memo field by which approvals are listed without asking each of them."""

MEMO_OF_END: Final = "temperance_end"
"""The memo field that says what became of an approval; not there while it is pending."""


# A capability of any input.
def request_of(
    capability: Capability[Any, Any],
    demand: Demand,
    execution_id: str,
    *,
    actor: Actor,
    surface: Surface,
    now: datetime,
    workflow_id: str | None,
    correlation_id: str | None = None,
    repeat_of: str | None = None,
    task_queue: str | None = None,
) -> ApprovalRequest:
    """The request that an approval is started with.

    Args:
        capability: What is to be run.
        demand: What the attempt demanded, with the value that will run.
        execution_id: The execution that asked.
        actor: Who asks.
        surface: Through which door.
        now: UTC.
        workflow_id: The asking workflow.
        correlation_id: The application's own id.
        repeat_of: First execution in this workflow that asked for the same.
        task_queue: Where it is executed; the approval's own task queue unless given.

    Returns:
        The request, its record in state ``pending``.
    """
    record = ApprovalRecord(
        id=approval_id(execution_id),
        execution_id=execution_id,
        capability=capability.id,
        description=capability.description,
        actor=actor,
        surface=surface,
        input_hash=demand.input_hash,
        shown=demand.shown,
        reasons=demand.reasons,
        types=demand.types,
        risk=capability.risk,
        side_effect=capability.side_effect,
        workflow_id=workflow_id,
        requested_at=now,
        expires_at=demand.expires_at,
    )
    return ApprovalRequest(
        record=record,
        input=demand.input.decode(),
        correlation_id=correlation_id,
        repeat_of=repeat_of,
        task_queue=task_queue,
    )


def memo_of(record: ApprovalRecord) -> Mapping[str, object]:
    """What listing shows: no payload, neither input nor reasons (DESIGN section 10)."""
    return {
        MEMO: {
            "execution_id": record.execution_id,
            "capability": record.capability,
            "actor": str(record.actor),
            "risk": record.risk,
            "side_effect": record.side_effect,
            "types": list(record.types),
            "expires_at": record.expires_at.isoformat(),
            "input_hash": record.input_hash,
        }
    }


def memo_of_end(record: ApprovalRecord) -> Mapping[str, object]:
    """What listing shows of a decision, or of the end without one; no comment."""
    decision = record.decision
    return {
        MEMO_OF_END: {
            "state": record.state,
            "by": None if decision is None else str(decision.by),
        }
    }


def summary_of_approval(record: ApprovalRecord) -> str:
    """The line that the UI shows for an approval; no payload."""
    return f"{record.capability} ({record.side_effect}/{record.risk}) for {record.actor}"[:200]


def unanswered(record: ApprovalRecord) -> Failed:
    """The envelope where an approval ended without one of its own: an operator terminated it.

    It may have been decided before, so nothing is known of the world.
    """
    return Failed(
        execution_id=record.execution_id,
        capability=record.capability,
        effect="possible",
        error=CapabilityError("APPROVAL_CANCELLED", stage="approval").public(),
    )
