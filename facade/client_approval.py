"""The approval of a single request: started by the client, where no workflow asks (G3).

The same approval as a workflow's, under the id that follows from the execution id. So a request
that is sent twice has one approval, also where the client died between asking and starting it.
"""

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.common import RawValue, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError

from temperance.activities.outcome import outcome_of
from temperance.runtime.approval import ApprovalRecord, ApprovalRequest
from temperance.runtime.call import Asked
from temperance.runtime.capability import Capability
from temperance.runtime.envelope import read_envelope
from temperance.runtime.messages import Ask
from temperance.runtime.names import APPROVAL_WORKFLOW
from temperance.workflows.approval_options import (
    memo_of,
    request_of,
    summary_of_approval,
    unanswered,
)
from temperance.workflows.reading import Answer

_JSON = {"encoding": b"json/plain"}


async def start_approval(
    client: Client,
    task_queue: str,
    capability: Capability[Any, Any],  # of any input and output
    demand: Asked,
    *,
    ask: Ask,
    execution_id: str,
) -> ApprovalRecord:
    """Starts the approval of a single request, unless it was started before.

    Args:
        client: A connected client; its plugin is not needed here.
        task_queue: Where the request was sent.
        capability: What is to be run.
        demand: What the attempt demanded.
        ask: The request context.
        execution_id: The execution that asked.

    Returns:
        The record in state ``pending``.

    Raises:
        temporalio.service.RPCError: The server cannot be reached, or refuses the call.
    """
    request = request_of(
        capability,
        demand,
        execution_id,
        actor=ask.actor,
        surface=ask.surface,
        now=datetime.now(UTC),
        workflow_id=None,
        correlation_id=ask.correlation_id,
    )
    record = request.record
    # Where it is closed already, the same request was sent before.
    with suppress(WorkflowAlreadyStartedError):
        await client.start_workflow(
            APPROVAL_WORKFLOW,
            _raw(request),
            id=record.id,
            task_queue=task_queue,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            memo=memo_of(record),
            static_summary=summary_of_approval(record),
        )
    return record


async def approval_outcome(client: Client, record: ApprovalRecord) -> Answer:
    """Waits for the envelope that an approval comes to, its output JSON-like.

    Args:
        client: A connected client.
        record: The approval.

    Returns:
        The envelope, and whether the approval has recorded it.

    Raises:
        temporalio.service.RPCError: The server cannot be reached, or refuses the call.
    """
    value = await outcome_of(client, record.id)
    envelope = None if value is None else read_envelope(value.payload.data)
    return Answer(unanswered(record), seen=False) if envelope is None else Answer(envelope)


def _raw(request: ApprovalRequest) -> RawValue:
    # As pydantic's converter would write it: the client may not have that one.
    return RawValue(Payload(metadata=_JSON, data=request.model_dump_json().encode()))
