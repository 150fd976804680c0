"""Single requests, without a workflow: the client starts the approval (G3)."""

import asyncio
from datetime import timedelta

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.common import RawValue

from temperance import (
    Actor,
    ApprovalRequired,
    Completed,
    ExecutionResult,
    Failed,
    TemperanceClient,
)
from temperance.runtime.identity import standalone_execution_id
from temperance.runtime.messages import Ask
from tests.guarantees.approvals.capabilities import transfer
from tests.guarantees.approvals.office import ADA, BOB, Office
from tests.guarantees.approvals.payments import Payment, Receipt

PAYMENT = Payment(label="w")


def desk(office: Office, client: Client | None = None, actor: Actor = ADA) -> TemperanceClient:
    """Where requests are handed in."""
    return TemperanceClient(
        client or office.client, office.app, actor=actor, task_queue=office.queue
    )


async def test_g3_a_single_request_that_waits_gets_the_typed_outcome(office: Office) -> None:
    """With a client that has no plugin: the approval is started with plain JSON."""
    plain = await Client.connect(office.client.service_client.config.target_host)
    async with office.worker():
        waiting = asyncio.ensure_future(
            desk(office, plain).invoke(transfer, PAYMENT, request_id=office.queue, wait=True)
        )
        asked = await desk(office, plain).invoke(transfer, PAYMENT, request_id=office.queue)
        assert isinstance(asked, ApprovalRequired)
        record = await office.until_asked(str(asked.approval_id))
        await office.approvals.approve(record.id, approver=BOB)
        envelope = await waiting

    assert (record.workflow_id, record.surface, record.actor) == (None, "direct", ADA)
    assert (record.input_hash, record.expires_at) == (asked.input_hash, asked.expires_at)
    assert record.reasons == asked.reasons == ("Money leaves the house.",)
    assert isinstance(envelope, Completed)
    assert envelope.output == Receipt(label="w", key=envelope.idempotency_key)
    assert envelope.execution_id == asked.execution_id
    assert office.trail(envelope.execution_id) == [
        "requested",
        "approval_requested",
        "approved",
        "approval_consumed",
        "started",
        "completed",
    ]


async def test_g3_a_request_that_is_sent_again_has_one_approval_and_one_outcome(
    office: Office,
) -> None:
    """While it is pending, and after it has been executed."""

    async def send(*, wait: bool = False) -> ExecutionResult[Receipt]:
        return await desk(office).invoke(transfer, PAYMENT, request_id=office.queue, wait=wait)

    async with office.worker():
        first, second = await asyncio.gather(send(), send())
        assert isinstance(first, ApprovalRequired)
        assert second == first
        await office.approvals.approve(str(first.approval_id), approver=BOB)
        outcome = await send(wait=True)
        assert await send(wait=True) == outcome
        assert await send() == first

    assert isinstance(outcome, Completed)
    assert len(office.books.entries("w")) == 1


async def test_g3_two_requests_with_equal_input_need_an_approval_each(office: Office) -> None:
    """What one person approved once is run once."""
    async with office.worker():
        first, second = await office.request("transfer", "w"), await office.request("transfer", "w")
        await office.approvals.approve(first, approver=BOB)
        await office.approvals.outcome(first)
        assert (await office.approvals.show(second)).state == "pending"

    assert first != second
    assert len(office.books.entries("w")) == 1


async def test_g3_a_request_whose_client_died_before_it_started_the_approval_is_sent_again(
    office: Office,
) -> None:
    """The attempt has asked; the approval is started by whoever sends the request next."""
    ask = Ask(actor=ADA, surface="direct")
    async with office.worker():
        dead = await office.client.start_activity(
            transfer.id,
            args=[raw(PAYMENT.model_dump_json().encode()), raw(ask.to_json())],
            id=office.queue,
            task_queue=office.queue,
            start_to_close_timeout=timedelta(seconds=5),
            result_type=RawValue,
        )
        await dead.result()
        envelope = await desk(office).invoke(transfer, PAYMENT, request_id=office.queue)
        assert isinstance(envelope, ApprovalRequired)
        record = await office.until_asked(str(envelope.approval_id))

    assert record.state == "pending"
    assert record.execution_id == standalone_execution_id(
        office.client.namespace, office.queue, str(dead.run_id)
    )


def raw(data: bytes) -> RawValue:
    return RawValue(Payload(metadata={"encoding": b"json/plain"}, data=data))


@pytest.mark.parametrize("end", ["reject", "expire", "terminate"])
async def test_g3_a_single_request_that_waits_is_told_how_its_approval_ended(
    office: Office, end: str
) -> None:
    """Also where an operator ends the approval: then nobody knows, and the client records it."""
    name = "hasty" if end == "expire" else "transfer"
    async with office.worker():
        waiting = asyncio.ensure_future(
            desk(office).invoke(f"pay.{name}", PAYMENT, request_id=office.queue, wait=True)
        )
        asked = await desk(office).invoke(f"pay.{name}", PAYMENT, request_id=office.queue)
        assert isinstance(asked, ApprovalRequired)
        if end == "reject":
            await office.approvals.reject(str(asked.approval_id), approver=BOB, comment="No.")
        elif end == "terminate":
            await office.client.get_workflow_handle(str(asked.approval_id)).terminate()
        envelope = await waiting

    code, effect, event = {
        "reject": ("APPROVAL_REJECTED", "none", "rejected"),
        "expire": ("APPROVAL_EXPIRED", "none", "approval_expired"),
        "terminate": ("APPROVAL_CANCELLED", "possible", "failed"),
    }[end]
    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.effect) == (code, effect)
    assert office.trail(envelope.execution_id) == ["requested", "approval_requested", event]
    closing = office.events.events[-1]
    assert (closing.error_code, closing.effect) == (code, effect)
    assert office.books.entries("w") == []
