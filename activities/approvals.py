"""What approvals need done outside of workflow code: the audit, and waiting for an outcome."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from temporalio import activity
from temporalio.client import WorkflowFailureError
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from ..runtime.app import App
from ..runtime.approval import ApprovalRecord
from ..runtime.call import Call
from ..runtime.names import ATTACH_ACTIVITY, RECORD_APPROVAL_ACTIVITY, EventType
from ..runtime.request import WorkflowRef
from ..runtime.trail import Trail

BEAT: Final = 5.0
"""Seconds between the heartbeats of an activity that waits."""

RecordApproval = Callable[[ApprovalRecord, EventType, str | None], Awaitable[None]]


def record_approval_activity(app: App) -> RecordApproval:
    """Makes the local activity that records what became of an approval.

    Args:
        app: Whose sinks.
    """

    @activity.defn(name=RECORD_APPROVAL_ACTIVITY)
    async def record_approval(
        record: ApprovalRecord, type_: EventType, correlation_id: str | None
    ) -> None:
        info = activity.info()
        call = Call(
            capability_id=record.capability,
            raw=None,
            actor=record.actor,
            surface=record.surface,
            execution_id=record.execution_id,
            correlation_id=correlation_id,
            workflow=WorkflowRef(record.id, info.workflow_run_id or "", info.activity_id),
        )
        trail = Trail(app, call)
        trail.capability = app.governance.registry.get(record.capability)
        trail.input_hash = record.input_hash
        decision = record.decision
        await trail.emit(
            type_,
            reasons=record.reasons,
            approval_id=record.id,
            approver_id=None if decision is None else decision.by.id,
            approver_kind=None if decision is None else decision.by.kind,
            source=None if decision is None else decision.source,
            comment=None if decision is None else decision.comment,
        )

    return record_approval


@activity.defn(name=ATTACH_ACTIVITY)
async def attach(approval: str) -> RawValue:
    """Waits for the outcome of an approval that was started before; only reads.

    Args:
        approval: Its workflow id.

    Returns:
        The envelope, as the approval gave it.

    Raises:
        ApplicationError: The approval ended without an envelope.
    """
    handle = activity.client().get_workflow_handle(approval, result_type=RawValue)
    waiting = asyncio.ensure_future(handle.result())
    try:
        while True:
            done, _ = await asyncio.wait({waiting}, timeout=BEAT)
            if done:
                return waiting.result()
            activity.heartbeat()
    except WorkflowFailureError:
        raise ApplicationError(
            "The approval ended without an outcome.", type="APPROVAL_CANCELLED", non_retryable=True
        ) from None
    finally:
        waiting.cancel()
