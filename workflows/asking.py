"""Has a person asked: the approval that a workflow starts, or attaches to (G3, DESIGN section 7).

Each is a child workflow whose id follows from the execution id and can be started once. Where it
was started before (the asking workflow was reset, or retried), its outcome is attached to instead,
as long as it was for the same request.
"""

import asyncio
from datetime import timedelta
from typing import Any, Final

from temporalio import workflow
from temporalio.common import RawValue, WorkflowIDReusePolicy
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    ChildWorkflowError,
    WorkflowAlreadyStartedError,
)

from ..runtime.approval import ApprovalRecord, ApprovalRequest
from ..runtime.envelope import ExecutionResult, Failed, read_envelope
from ..runtime.error import CapabilityError
from ..runtime.messages import Ask
from ..runtime.names import APPROVAL_WORKFLOW, ATTACH_ACTIVITY
from .approval_options import memo_of, summary_of_approval, unanswered
from .cancellation import Cancellations
from .pending import Pending, RequestKey
from .reading import Answer
from .run import GovernedRun
from .unseen import record_unseen

ATTACH_TIMEOUT: Final = timedelta(seconds=30)
"""Of one attempt, which looks for a moment only; there are as many as it takes."""

# The envelope is read from bytes, whatever the child's own type.
Child = workflow.ChildWorkflowHandle[Any, RawValue]


def ask_person(
    run: GovernedRun, key: RequestKey, request: ApprovalRequest, ask: Ask, step_id: str
) -> Pending:
    """Starts an approval, or attaches to the one that was started before.

    Args:
        run: The asking run.
        key: What identical requests find it by.
        request: What is to be decided.
        ask: The request context, for a record of what the approval could not record itself.
        step_id: The step that asked.

    Returns:
        The approval; ``begun`` once the server has it.
    """
    begun = asyncio.create_task(_begin(run, request))
    outcome = asyncio.create_task(_outcome(run, request.record, begun, ask, step_id))
    pending = Pending(request.record, begun, outcome)
    run.approvals.add(key, pending)
    return pending


async def _begin(run: GovernedRun, request: ApprovalRequest) -> Child | None:
    """The child workflow, or ``None`` where there was one before."""
    record = request.record
    # The input goes along twice: as it runs, and as it is shown.
    await run.outbox.room(2 * len(request.input))
    try:
        return await workflow.start_child_workflow(
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
    except WorkflowAlreadyStartedError:
        return None


async def _outcome(
    run: GovernedRun,
    record: ApprovalRecord,
    begun: "asyncio.Task[Child | None]",
    ask: Ask,
    step_id: str,
) -> ExecutionResult[object]:
    child = await begun
    ended = unanswered(record)
    try:
        value = await _attach(record) if child is None else await child
        envelope = read_envelope(value.payload.data)
        if envelope is not None:
            return envelope
    except ChildWorkflowError:
        pass
    except ActivityError as error:
        if _was_for_another(error):
            ended = _mismatch(record)
    # The approval did not record how this execution ended; only this workflow knows.
    answer = Answer(ended, seen=False)
    return await record_unseen(ask, step_id, answer, Cancellations(run))


async def _attach(record: ApprovalRecord) -> RawValue:
    value: RawValue = await workflow.execute_activity(
        ATTACH_ACTIVITY,
        record.model_copy(update={"shown": None}),
        result_type=RawValue,
        start_to_close_timeout=ATTACH_TIMEOUT,
        summary=f"waits for {record.id}",
    )
    return value


def _was_for_another(error: ActivityError) -> bool:
    cause = error.cause
    return isinstance(cause, ApplicationError) and cause.type == "STEP_INPUT_MISMATCH"


def _mismatch(record: ApprovalRecord) -> Failed:
    """The same step was asked to be approved before, for another request (G11)."""
    return Failed(
        execution_id=record.execution_id,
        capability=record.capability,
        effect="possible",
        error=CapabilityError("STEP_INPUT_MISMATCH").public(),
    )
