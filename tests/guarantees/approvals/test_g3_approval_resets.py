"""The approval itself is rewound by an operator: never a second execution of a write (G3, G11)."""

import asyncio
from collections.abc import Awaitable

import pytest
from temporalio.api.enums.v1 import EventType

from temperance import Completed, ExecutionResult, Failed
from temperance.client_approval import approval_outcome
from tests.guarantees.approvals.office import BOB, EVE, Office, ask
from tests.guarantees.runs.rewinding import reset, reset_to_start
from tests.support.waiting import wait_until


async def rewound(office: Office, approval: str, *, reapply: bool = True) -> str:
    """Rewinds an approval to where it waited; gives the new run."""
    described = await office.client.get_workflow_handle(approval).describe()

    async def first_task() -> int:
        for event in await office.history(approval, described.run_id):
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
                return event.event_id
        return 0

    end = await wait_until(first_task)
    return await reset(office.client, approval, described.run_id, end, reapply=reapply)


async def outcome(office: Office, approval: str, run_id: str) -> ExecutionResult[object]:
    """What a run of an approval comes to."""
    envelope = await office.approvals.outcome(approval)
    assert (await office.client.get_workflow_handle(approval).describe()).run_id == run_id
    return envelope


async def test_g3_an_approval_that_is_rewound_before_its_decision_waits_on(office: Office) -> None:
    """And is then decided and executed as if nothing had been."""
    async with office.worker():
        approval = await office.request("transfer", "w")
        await office.waiting(approval)
        run_id = await rewound(office, approval)
        await office.approvals.approve(approval, approver=BOB)
        envelope = await outcome(office, approval, run_id)

    assert isinstance(envelope, Completed)
    assert len(office.books.entries("w")) == 1


@pytest.mark.parametrize("reapply", [True, False])
async def test_g3_an_approval_that_is_rewound_after_its_execution_has_the_same_outcome(
    office: Office, reapply: bool
) -> None:
    """The decision is applied again, or another person decides: no handler is entered again.

    The record has both decisions, and one execution.
    """
    async with office.worker():
        approval = await office.request("transfer", "w")
        await office.approvals.approve(approval, approver=BOB)
        before = await office.approvals.outcome(approval)
        run_id = await rewound(office, approval, reapply=reapply)
        if not reapply:
            await office.approvals.approve(approval, approver=EVE)
        after = await outcome(office, approval, run_id)

    assert isinstance(before, Completed)
    assert after == before
    assert len(office.books.entries("w")) == 1
    decided = [e.approver_id for e in office.events.events if e.type == "capability.approved"]
    assert decided == ["bob", "bob" if reapply else "eve"]
    assert [e.type for e in office.events.events].count("capability.completed") == 1


async def test_g3_an_approval_that_is_rewound_while_it_executes_does_not_execute_again(
    office: Office,
) -> None:
    """The write runs on and takes its effect; the new run says that it may have."""
    async with office.worker():
        approval = await office.request("transfer", "w", "wait")
        await office.approvals.approve(approval, approver=BOB)
        await office.until_entered("w")
        run_id = await rewound(office, approval)
        envelope = await outcome(office, approval, run_id)
        office.books.open_gate("w")

    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.effect) == ("RESET_FORBIDDEN", "possible")
    assert len(office.books.entries("w")) == 1


async def test_g3_a_rewound_approval_that_then_ends_without_a_yes_says_that_something_may_be_done(
    office: Office,
) -> None:
    """What an earlier run of it executed is not undone by a rejection."""
    async with office.worker():
        approval = await office.request("transfer", "w")
        await office.approvals.approve(approval, approver=BOB)
        await office.approvals.outcome(approval)
        run_id = await rewound(office, approval, reapply=False)
        await office.approvals.reject(approval, approver=EVE)
        envelope = await outcome(office, approval, run_id)

    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.effect) == ("APPROVAL_REJECTED", "possible")
    decided = [
        (event.type.removeprefix("capability."), event.approver_id, event.effect)
        for event in office.events.events
        if event.approver_id is not None
    ]
    assert decided == [
        ("approved", "bob", None),
        ("approval_consumed", "bob", None),
        ("rejected", "eve", "possible"),
    ]


async def test_g3_a_rewound_approval_of_an_idempotent_write_repeats_it_under_its_one_key(
    office: Office,
) -> None:
    """That it may be repeated is what the capability declares; the gateway sees the same key."""
    async with office.worker():
        approval = await office.request("charge", "w")
        await office.approvals.approve(approval, approver=BOB)
        before = await office.approvals.outcome(approval)
        run_id = await rewound(office, approval)
        after = await outcome(office, approval, run_id)

    assert isinstance(before, Completed)
    assert after == before
    assert {entry.key for entry in office.books.entries("w")} == {before.idempotency_key}
    assert [entry.attempt for entry in office.books.entries("w")] == [1, 1]


async def test_g3_a_workflow_that_waits_gets_the_outcome_of_the_run_that_a_reset_started(
    office: Office,
) -> None:
    """The server tells it; the run that was rewound has none."""
    async with office.worker():
        handle = await office.start(ask("transfer", "w", step="w"))
        approval = office.asked_by(handle, "w")
        await office.until_asked(approval)
        await office.waiting(approval)
        await rewound(office, approval)
        await office.approvals.approve(approval, approver=BOB)
        (envelope,) = await handle.result()

    assert isinstance(envelope, Completed)
    assert len(office.books.entries("w")) == 1


@pytest.mark.parametrize("who", ["client", "attached", "deciders"])
async def test_g3_whoever_else_waits_gets_the_outcome_of_the_run_that_a_reset_started(
    office: Office, who: str
) -> None:
    """A client, a workflow that attached after a reset of its own, and who decides."""
    async with office.worker():
        handle = await office.start(ask("transfer", "w", step="w"), hold=True)
        approval = office.asked_by(handle, "w")
        await office.until_asked(approval)
        await office.waiting(approval)
        waiting: Awaitable[object]
        if who == "client":
            record = await office.approvals.show(approval)
            waiting = asyncio.ensure_future(approval_outcome(office.client, record))
        elif who == "attached":
            run_id = await reset_to_start(
                office.client, handle.id, str(handle.first_execution_run_id)
            )
            again = office.run_of(handle, run_id)

            async def attached() -> bool:
                return "temperance.attach" in str(await office.history(handle.id, run_id))

            await wait_until(attached)
            waiting = asyncio.ensure_future(office.answers(again, 1))
        else:
            waiting = asyncio.ensure_future(office.approvals.outcome(approval))
        await asyncio.sleep(0.2)  # nothing tells that the call is on its way; it need not be
        await rewound(office, approval)
        await office.approvals.approve(approval, approver=BOB)
        outcome = await waiting
        await handle.signal("finish")

    assert "completed" in str(outcome)
    assert len(office.books.entries("w")) == 1
