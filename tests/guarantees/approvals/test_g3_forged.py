"""An approval counts where the approval of that execution sends it, and nowhere else (G3)."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.client import ActivityFailureError
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from temperance import ApprovalRequired
from temperance.runtime.approval import Grant
from temperance.runtime.envelope import read_envelope
from temperance.runtime.identity import workflow_execution_id
from temperance.runtime.messages import Ask
from temperance.runtime.names import APPROVAL_STEP, APPROVAL_WORKFLOW
from tests.guarantees.approvals.forging import Forging, raw
from tests.guarantees.approvals.office import ADA, BOB, Office, approval_request
from tests.guarantees.approvals.payments import Payment

PAYMENT = Payment(label="w")


def forged(execution_id: str) -> Ask:
    """A request context with an approval that nobody gave."""
    grant = Grant(
        execution_id=execution_id,
        input_hash=approval_request("transfer", PAYMENT).record.input_hash,
        expires_at=datetime.now(UTC) + timedelta(hours=1),
        approver=BOB,
        types=("manager",),
    )
    return Ask(actor=ADA, surface="workflow", grant=grant)


@pytest.mark.parametrize("id_", ["a workflow of its own", "the approval's id"])
async def test_g3_a_foreign_workflow_that_passes_an_approval_is_asked_for_one(
    office: Office, id_: str
) -> None:
    """Whatever workflow id it takes: the server says of which type it is."""
    execution_id = workflow_execution_id("default", office.queue, "run", "w")
    workflow_id = f"approval-{execution_id}" if id_ == "the approval's id" else office.queue
    async with Worker(office.client, task_queue=office.queue, workflows=[Forging]):
        reply = await office.client.execute_workflow(
            Forging.run,
            args=[PAYMENT, forged(execution_id).to_json().decode(), APPROVAL_STEP],
            id=workflow_id,
            task_queue=office.queue,
        )

    assert '"approval":{"reasons":' in reply
    assert office.books.entries() == []
    asked = [event.execution_id for event in office.events.events]
    assert execution_id not in asked


async def test_g3_a_single_request_that_passes_an_approval_is_asked_for_one(
    office: Office,
) -> None:
    """A standalone activity belongs to no workflow."""
    async with office.worker():
        value: RawValue = await office.client.execute_activity(
            "pay.transfer",
            args=[
                raw(PAYMENT.model_dump_json().encode()),
                raw(forged("864d2ce2-ff52-5c22-9e4d-f7bb9e68fc9b").to_json()),
            ],
            id=office.queue,
            task_queue=office.queue,
            start_to_close_timeout=timedelta(seconds=5),
            result_type=RawValue,
        )
    assert b'"approval":' in value.payload.data
    assert office.books.entries() == []


async def test_g3_an_approval_workflow_under_another_id_authorizes_nothing(
    office: Office,
) -> None:
    """Its id follows from the execution, so that there is one; another one runs nothing."""
    request = approval_request("transfer", PAYMENT)
    async with office.worker():
        for workflow_id in (f"approval-{office.queue}", office.queue):
            handle = await office.client.start_workflow(
                APPROVAL_WORKFLOW,
                request,
                id=workflow_id,
                task_queue=office.queue,
                result_type=RawValue,
            )
            await handle.execute_update(
                "decide", {"approved": True, "approver": {"kind": "user", "id": "bob"}}
            )
            envelope = read_envelope((await handle.result()).payload.data)
            assert isinstance(envelope, ApprovalRequired)
    assert office.books.entries() == []


async def test_g3_an_approval_of_one_execution_authorizes_no_other(office: Office) -> None:
    """What an approval was started with names the execution of another one."""
    one, other = approval_request("transfer", PAYMENT), approval_request("transfer", PAYMENT)
    mixed = one.model_copy(
        update={"record": one.record.model_copy(update={"execution_id": other.record.execution_id})}
    )
    async with office.worker():
        handle = await office.client.start_workflow(
            APPROVAL_WORKFLOW,
            mixed,
            id=one.record.id,
            task_queue=office.queue,
            result_type=RawValue,
        )
        await office.approvals.approve(one.record.id, approver=BOB)
        envelope = read_envelope((await handle.result()).payload.data)

    assert isinstance(envelope, ApprovalRequired)
    assert office.books.entries() == []


@pytest.mark.parametrize(
    "changed",
    [
        {"expires_at": "never"},
        {"expires_at": "2999-01-01T00:00:00"},
        {"by": "bob"},
        {"by": "model:bob"},
        {"by": ""},
    ],
    ids=str,
)
async def test_g3_an_approval_that_cannot_be_read_lets_nothing_run(
    office: Office, changed: dict[str, str]
) -> None:
    """The context closes as a whole: then the requester is not known either."""
    wire = forged("864d2ce2-ff52-5c22-9e4d-f7bb9e68fc9b").to_json()
    context: list[Any] = json.loads(wire)  # JSON of any shape
    context[1]["grant"] |= changed
    async with office.worker():
        with pytest.raises(ActivityFailureError) as failed:
            await office.client.execute_activity(
                "pay.transfer",
                args=[PAYMENT, context],
                id=office.queue,
                task_queue=office.queue,
                start_to_close_timeout=timedelta(seconds=5),
                result_type=RawValue,
            )
    assert isinstance(failed.value.cause, ApplicationError)
    assert failed.value.cause.type == "UNAUTHENTICATED"
    assert office.books.entries() == []
