"""A decision that is sent again is one decision, and gets the same answer (G3)."""

import asyncio
from datetime import timedelta

import pytest

from temperance import CapabilityError, Completed
from temperance.approvals import Approvals
from tests.guarantees.approvals.office import BOB, EVE, Office, refused

ACCEPTED = "WORKFLOW_EXECUTION_UPDATE_ACCEPTED"


async def test_g3_a_decision_whose_call_timed_out_is_sent_again(office: Office) -> None:
    """No worker answers; sent again when one is there it counts once, also as it had arrived."""
    impatient = Approvals(office.client, timeout=timedelta(milliseconds=300))
    approval = await office.begin("transfer", "w")
    with pytest.raises(CapabilityError) as unanswered:
        await impatient.approve(approval, approver=BOB, comment="Fine.")
    async with office.worker():
        record = await office.approvals.approve(approval, approver=BOB, comment="Fine.")
        envelope = await office.approvals.outcome(approval)

    assert unanswered.value.code == "TIMEOUT"
    assert record.state == "approved"
    assert isinstance(envelope, Completed)
    assert (await office.names(approval)).count(ACCEPTED) == 1
    assert len(office.books.entries("w")) == 1


async def test_g3_a_decision_is_answered_alike_however_often_it_is_sent(office: Office) -> None:
    """At once, while it executes, and after all is over; another comment makes no other one."""
    async with office.worker():
        approval = await office.request("transfer", "w", "wait")

        async def approve(comment: str) -> object:
            return await office.approvals.approve(approval, approver=BOB, comment=comment)

        first, *others = await asyncio.gather(*(approve(f"{number}") for number in range(5)))
        await office.until_entered("w")
        others.append(await approve("Later."))
        office.books.open_gate("w")
        await office.approvals.outcome(approval)
        others.append(await approve("After all."))
        # The other verdict is another decision.
        code = await refused(office.approvals.reject(approval, approver=BOB))

    assert others == [first] * len(others)
    assert code == "APPROVAL_CONSUMED"
    assert (await office.names(approval)).count(ACCEPTED) == 1
    assert len(office.books.entries("w")) == 1


async def test_g3_a_rejection_and_a_withdrawal_that_are_sent_again_are_answered_alike(
    office: Office,
) -> None:
    """Also after the approval has closed."""
    async with office.worker():
        rejected = await office.request("transfer", "r")
        first = await office.approvals.reject(rejected, approver=BOB)
        await office.approvals.outcome(rejected)
        assert await office.approvals.reject(rejected, approver=BOB) == first

        withdrawn = await office.request("transfer", "c")
        second = await office.approvals.cancel(withdrawn, by=EVE)
        await office.approvals.outcome(withdrawn)
        assert await office.approvals.cancel(withdrawn, by=EVE) == second
    assert office.books.entries() == []


async def test_g3_a_decision_that_was_refused_is_judged_anew_when_it_is_sent_again(
    office: Office,
) -> None:
    """Nothing is kept of a refusal: not its answer either. Here the approval has closed since."""
    async with office.worker():
        approval = await office.request("hasty", "w", "wait")
        await office.approvals.approve(approval, approver=BOB)
        await office.until_entered("w")
        code = await refused(office.approvals.reject(approval, approver=EVE))
        office.books.open_gate("w")
        await office.approvals.outcome(approval)
        again = await refused(office.approvals.reject(approval, approver=EVE))

    assert (code, again) == ("APPROVAL_CONSUMED", "APPROVAL_CONSUMED")


async def test_g3_whoever_gives_up_waiting_for_an_answer_is_really_cancelled(
    office: Office,
) -> None:
    """A task that is cancelled while it decides ends as cancelled, not with an error."""
    approval = await office.begin("transfer", "w")
    deciding = asyncio.ensure_future(office.approvals.approve(approval, approver=BOB))
    await asyncio.sleep(0.1)  # nothing tells that the call is on its way; it need not be
    deciding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await deciding
    async with office.worker():
        # The decision may have arrived all the same; it is sent again to know.
        await office.approvals.approve(approval, approver=BOB)
        assert isinstance(await office.approvals.outcome(approval), Completed)
    assert len(office.books.entries("w")) == 1
