"""Whoever asked is cancelled or ended: the approval closes, or stays to be decided (G3)."""

import pytest
from temporalio.client import WorkflowFailureError

from temperance import Cancelled, Completed, Failed
from tests.guarantees.approvals.office import BOB, EVE, Office, ask, refused
from tests.guarantees.approvals.workflows import Asking
from tests.support.waiting import wait_until

ASKED = ["requested", "approval_requested"]


async def test_g3_a_cancelled_workflow_withdraws_what_it_waits_for(office: Office) -> None:
    """The approval closes as cancelled and says so, to the workflow and to whoever decides."""
    async with office.worker():
        handle = await office.start(
            ask("transfer", "a", step="a"), ask("charge", "b", step="b"), at_once=True
        )
        approvals = [office.asked_by(handle, step) for step in ("a", "b")]
        for approval in approvals:
            await office.until_asked(approval)
        await handle.cancel()
        answers = await handle.result()
        for approval in approvals:
            record = await office.approvals.show(approval)
            assert (record.state, record.decision) == ("cancelled", None)
            code = await refused(office.approvals.approve(approval, approver=BOB))
            assert code == "APPROVAL_CANCELLED"

    assert len(answers) == 2
    for envelope in answers:
        assert isinstance(envelope, Failed)
        assert (envelope.code, envelope.effect) == ("APPROVAL_CANCELLED", "none")
        assert office.trail(envelope.execution_id) == [*ASKED, "approval_cancelled"]
    assert office.books.entries() == []


async def test_g3_a_workflow_that_is_cancelled_when_the_demand_arrives_asks_nobody(
    office: Office,
) -> None:
    """Both come in one workflow task; the request ends as cancelled, and nothing was done."""
    there = f"{office.queue}-there"
    async with office.worker():
        handle = await office.start(ask("transfer", "w", step="w", queue=there))

        async def scheduled() -> bool:
            return "ACTIVITY_TASK_SCHEDULED" in await office.names(handle.id)

        await wait_until(scheduled)
    # Only now, so that no worker looks at the demand before the cancellation is there too.
    async with office.worker(queue=there):

        async def demanded() -> bool:
            return "ACTIVITY_TASK_COMPLETED" in await office.names(handle.id)

        await wait_until(demanded)
    await handle.cancel()
    async with office.worker():
        (envelope,) = await handle.result()
        unasked = await refused(office.approvals.show(office.asked_by(handle, "w")))

    assert unasked == "CAPABILITY_NOT_FOUND"
    assert isinstance(envelope, Cancelled)
    assert (envelope.code, envelope.effect, envelope.attempts) == ("CANCELLED", "none", 1)
    assert office.trail(envelope.execution_id) == [*ASKED, "cancelled"]
    assert office.books.entries() == []


async def test_g3_a_cancelled_workflow_withdraws_also_what_it_only_held(office: Office) -> None:
    """Nobody would be told what became of it."""
    async with office.worker():
        handle = await office.start(ask("transfer", "w", step="w", wait=False), hold=True)
        approval = office.asked_by(handle, "w")
        await office.answers(handle, 1)
        await handle.cancel()
        await handle.result()
        outcome = await office.approvals.outcome(approval)

    assert isinstance(outcome, Failed)
    assert outcome.code == "APPROVAL_CANCELLED"
    assert office.trail(outcome.execution_id) == [*ASKED, "approval_cancelled"]


async def test_g3_a_workflow_that_is_cancelled_while_the_approved_executes_ends_it(
    office: Office,
) -> None:
    """As it would end an execution that needed no approval: with what is known of the world."""
    async with office.worker():
        handle = await office.start(ask("transfer", "w", "wait", step="w"))
        approval = office.asked_by(handle, "w")
        await office.until_asked(approval)
        await office.approvals.approve(approval, approver=BOB)
        await office.until_entered("w")
        await handle.cancel()
        (envelope,) = await handle.result()

    assert isinstance(envelope, Cancelled)
    assert (envelope.code, envelope.effect) == ("CANCELLED", "possible")
    assert len(office.books.entries("w")) == 1
    assert office.trail(envelope.execution_id)[-2:] == ["started", "cancelled"]


async def test_g3_an_approval_outlives_a_workflow_that_is_terminated(office: Office) -> None:
    """The server cannot tell that from a reset: the approval stays until it is decided or expires.

    Whoever wants it gone withdraws it.
    """
    async with office.worker():
        handle = await office.start(
            ask("transfer", "a", step="a"), ask("transfer", "b", step="b"), at_once=True
        )
        first, second = office.asked_by(handle, "a"), office.asked_by(handle, "b")
        await office.until_asked(first)
        await office.until_asked(second)
        await handle.terminate()
        with pytest.raises(WorkflowFailureError):
            await handle.result()
        await office.approvals.approve(first, approver=BOB)
        await office.approvals.cancel(second, by=EVE)
        outcomes = [await office.approvals.outcome(approval) for approval in (first, second)]

    assert isinstance(outcomes[0], Completed)
    assert isinstance(outcomes[1], Failed)
    assert [entry.label for entry in office.books.entries()] == ["a"]


@pytest.mark.parametrize("how", ["terminated", "cancelled"])
async def test_g3_a_workflow_whose_approval_an_operator_ended_is_told(
    office: Office, how: str
) -> None:
    """Cancelled, the approval says so itself; terminated, only the workflow can record it."""
    async with office.worker():
        handle = await office.start(ask("transfer", "w", step="w"))
        approval = office.asked_by(handle, "w")
        await office.until_asked(approval)
        operated = office.client.get_workflow_handle(approval)
        await (operated.terminate() if how == "terminated" else operated.cancel())
        (envelope,) = await handle.result()
        code = await refused(office.approvals.approve(approval, approver=BOB))

    assert isinstance(envelope, Failed)
    assert (envelope.code, code) == ("APPROVAL_CANCELLED", "APPROVAL_CANCELLED")
    effect, event = {
        "terminated": ("possible", "failed"),
        "cancelled": ("none", "approval_cancelled"),
    }[how]
    assert envelope.effect == effect
    assert office.trail(envelope.execution_id) == [*ASKED, event]
    assert office.events.events[-1].error_code == "APPROVAL_CANCELLED"
    assert office.books.entries() == []


async def test_g3_a_signal_that_asks_while_the_workflow_is_cancelled_leaves_nothing_open(
    office: Office,
) -> None:
    """An approval that a signal's handler waits for is withdrawn as well."""
    async with office.worker():
        handle = await office.start(ask("note", "n"), hold=True)
        await office.answers(handle, 1)
        await handle.signal(Asking.ask, ask("transfer", "w", step="w"))
        approval = office.asked_by(handle, "w")
        await office.until_asked(approval)
        await handle.cancel()
        await handle.result()
        outcome = await office.approvals.outcome(approval)

    assert isinstance(outcome, Failed)
    assert outcome.code == "APPROVAL_CANCELLED"
