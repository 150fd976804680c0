"""Many decide at once: one decision is accepted, and one execution follows at most (G3)."""

import asyncio
from collections import Counter

import pytest

from temperance import Actor, CapabilityError, Completed, Failed
from temperance.runtime.approval import ApprovalRecord
from tests.guarantees.approvals.office import BOB, EVE, Office
from tests.guarantees.approvals.payments import Act

LOST = {"approved": "APPROVAL_CONSUMED", "rejected": "APPROVAL_REJECTED"}


@pytest.mark.parametrize("act", ["return", "wait"])
async def test_g3_of_a_hundred_decisions_at_once_one_counts_and_one_execution_follows(
    office: Office, act: Act
) -> None:
    """Approvals and rejections by a hundred people; all who lose are told the same.

    Once the approval may close while they come, once it still executes when the last has come.
    The audit names only the one whose decision counts.
    """
    approvals = office.approvals
    async with office.worker():
        approval = await office.request("transfer", "w", act)

        async def decide(number: int) -> ApprovalRecord | str:
            say = approvals.approve if number % 2 else approvals.reject
            try:
                return await say(approval, approver=Actor(id=f"person-{number}"))
            except CapabilityError as error:
                return error.code

        answers = await asyncio.gather(*(decide(number) for number in range(100)))
        office.books.open_gate("w")
        outcome = await approvals.outcome(approval)

    (winner,) = [answer for answer in answers if isinstance(answer, ApprovalRecord)]
    assert winner.decision is not None
    assert Counter(answer for answer in answers if isinstance(answer, str)) == {
        LOST[winner.state]: 99
    }
    assert (await office.names(approval)).count("WORKFLOW_EXECUTION_UPDATE_ACCEPTED") == 1
    if winner.state == "approved":
        assert isinstance(outcome, Completed)
    else:
        assert isinstance(outcome, Failed)
        assert outcome.code == "APPROVAL_REJECTED"
    assert len(office.books.entries("w")) == isinstance(outcome, Completed)
    office.trail(outcome.execution_id)
    named = {event.approver_id for event in office.events.events} - {None}
    assert named == {winner.decision.by.id}


async def test_g3_a_decision_and_a_withdrawal_at_once_end_as_one_of_them(office: Office) -> None:
    """Who loses is told what won; over several approvals both the record and the outcome agree."""
    approvals = office.approvals

    async def race(number: int) -> None:
        label = f"w{number}"
        approval = await office.request("transfer", label)
        first, second = await asyncio.gather(
            approvals.approve(approval, approver=BOB),
            approvals.cancel(approval, by=EVE),
            return_exceptions=True,
        )
        outcome = await approvals.outcome(approval)
        if isinstance(first, ApprovalRecord):
            assert isinstance(second, CapabilityError)
            assert second.code == "APPROVAL_CONSUMED"
            assert isinstance(outcome, Completed)
        else:
            assert isinstance(first, CapabilityError)
            assert isinstance(second, ApprovalRecord)
            assert isinstance(outcome, Failed)
            assert (first.code, outcome.code) == ("APPROVAL_CANCELLED", "APPROVAL_CANCELLED")
        assert len(office.books.entries(label)) == isinstance(outcome, Completed)

    async with office.worker():
        await asyncio.gather(*(race(number) for number in range(10)))
