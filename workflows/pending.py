"""Approvals that a workflow waits for (G3, DESIGN section 7).

Each is a child workflow whose id follows from the execution id and can be started once. Where it
was started before (the asking workflow was reset), its outcome is attached to instead.
"""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from temporalio import workflow
from temporalio.common import RawValue, WorkflowIDReusePolicy
from temporalio.exceptions import (
    ActivityError,
    ChildWorkflowError,
    WorkflowAlreadyStartedError,
)

from ..runtime.actor import Actor
from ..runtime.approval import ApprovalRecord, ApprovalRequest
from ..runtime.envelope import ExecutionResult, read_envelope
from ..runtime.names import APPROVAL_WORKFLOW, ATTACH_ACTIVITY
from .approval_options import memo_of, summary_of_approval, unanswered

Asked = tuple[str, str, str]
"""Capability, actor and input hash: what makes two requests join one approval."""

ATTACH_TIMEOUT: Final = timedelta(days=31)
ATTACH_HEARTBEAT: Final = timedelta(seconds=30)


def asked_key(capability: str, actor: Actor, input_hash: str) -> Asked:
    """What an approval in a run is found by."""
    return (capability, str(actor), input_hash)


@dataclass(slots=True)
class Pending:
    """An approval that was asked for in this run.

    Args:
        record: What is to be decided.
        outcome: The envelope it comes to.
        waiting: How many callers wait for it.
    """

    record: ApprovalRecord
    outcome: "asyncio.Task[ExecutionResult[object]]"
    waiting: int = 0


@dataclass(slots=True)
class Approvals:
    """The approvals of a run, by what was asked and by id."""

    by_request: dict[Asked, Pending] = field(default_factory=dict[Asked, Pending])
    by_id: dict[str, Pending] = field(default_factory=dict[str, Pending])

    def open(self, key: Asked) -> Pending | None:
        """The approval of an identical request that is not decided yet."""
        found = self.by_request.get(key)
        return None if found is None or found.outcome.done() else found

    def start(self, key: Asked, request: ApprovalRequest) -> Pending:
        """Starts an approval, or attaches to the one that was started before."""
        outcome = asyncio.create_task(_outcome(request))
        pending = Pending(request.record, outcome)
        self.by_request[key] = pending
        self.by_id[request.record.id] = pending
        return pending


async def _outcome(request: ApprovalRequest) -> ExecutionResult[object]:
    record = request.record
    try:
        child = await workflow.start_child_workflow(
            APPROVAL_WORKFLOW,
            request,
            id=record.id,
            result_type=RawValue,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            # A reset ends the asking run; the approval must outlive it. A cancelled workflow
            # withdraws its approvals itself.
            parent_close_policy=workflow.ParentClosePolicy.ABANDON,
            memo=memo_of(record),
            static_summary=summary_of_approval(record),
        )
        value: RawValue = await child
    except WorkflowAlreadyStartedError:
        return await _attach(record)
    except ChildWorkflowError:
        return unanswered(record)
    return read_envelope(value.payload.data) or unanswered(record)


async def _attach(record: ApprovalRecord) -> ExecutionResult[object]:
    try:
        value: RawValue = await workflow.execute_activity(
            ATTACH_ACTIVITY,
            record.id,
            result_type=RawValue,
            start_to_close_timeout=ATTACH_TIMEOUT,
            heartbeat_timeout=ATTACH_HEARTBEAT,
            summary=f"waits for {record.id}",
        )
    except ActivityError:
        return unanswered(record)
    return read_envelope(value.payload.data) or unanswered(record)
