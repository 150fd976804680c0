"""Workflows that ask are rewound or retried: they get the outcome there is (G3)."""

import asyncio

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.common import RetryPolicy

from temperance import Completed, Failed
from tests.guarantees.approvals.office import BOB, Handle, Office, ask
from tests.guarantees.approvals.payments import Act
from tests.guarantees.approvals.workflows import Asking
from tests.guarantees.runs.rewinding import reset, reset_to_start, task_end_after
from tests.support.waiting import wait_until


async def rewound(office: Office, handle: Handle) -> str:
    """Rewinds a workflow to its start, as an operator does; gives the new run."""
    return await reset_to_start(office.client, handle.id, str(handle.first_execution_run_id))


@pytest.mark.parametrize("when", ["before", "at", "executing", "after"])
async def test_g3_a_workflow_that_is_rewound_gets_the_outcome_of_the_approval_it_asked_for(
    office: Office, when: str
) -> None:
    """Before the decision, at the same time, while it executes, and once all is over.

    One approval, one decision, one execution; the new run gets its envelope.
    """
    async with office.worker():
        act: Act = "wait" if when == "executing" else "return"
        handle = await office.start(ask("transfer", "w", act, step="w"))
        approval = office.asked_by(handle, "w")
        await office.until_asked(approval)
        match when:
            case "before":
                run_id = await rewound(office, handle)
                await office.approvals.approve(approval, approver=BOB)
            case "at":
                run_id, _ = await asyncio.gather(
                    rewound(office, handle), office.approvals.approve(approval, approver=BOB)
                )
            case "executing":
                await office.approvals.approve(approval, approver=BOB)
                await office.until_entered("w")
                run_id = await rewound(office, handle)
                office.books.open_gate("w")
            case _:
                await office.approvals.approve(approval, approver=BOB)
                await handle.result()
                run_id = await rewound(office, handle)
        (envelope,) = await office.run_of(handle, run_id).result()
        outcome = await office.approvals.outcome(approval)

    assert isinstance(envelope, Completed)
    assert isinstance(outcome, Completed)
    assert envelope.execution_id == outcome.execution_id == approval.removeprefix("approval-")
    assert envelope.output.model_dump() == outcome.output
    assert len(office.books.entries("w")) == 1
    names = await office.names(office.queue, run_id)
    assert "START_CHILD_WORKFLOW_EXECUTION_FAILED" in names


async def test_g3_a_rewound_workflow_that_waits_takes_no_slot_from_what_was_approved(
    office: Office,
) -> None:
    """A worker of one activity at a time: it waits, records the decision, and executes."""
    async with office.worker(slots=1):
        handle = await office.start(ask("transfer", "w", step="w"))
        approval = office.asked_by(handle, "w")
        await office.until_asked(approval)
        run_id = await rewound(office, handle)

        async def attached() -> bool:
            return "temperance.attach" in str(await office.history(handle.id, run_id))

        await wait_until(attached)
        await office.approvals.approve(approval, approver=BOB)
        (envelope,) = await office.run_of(handle, run_id).result()

    assert isinstance(envelope, Completed)
    assert len(office.books.entries("w")) == 1


async def test_g3_a_workflow_that_is_rewound_to_where_it_waits_gets_the_outcome(
    office: Office,
) -> None:
    """The reset point lies after the approval was asked for: the new run waits for the same."""
    async with office.worker():
        handle = await office.start(ask("transfer", "w", step="w"))
        approval = office.asked_by(handle, "w")
        await office.until_asked(approval)
        first = str(handle.first_execution_run_id)

        async def begun() -> int:
            for event in await office.history(handle.id, first):
                if event.event_type == EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED:
                    return event.event_id
            return 0

        end = await task_end_after(office.client, handle.id, first, await wait_until(begun))
        run_id = await reset(office.client, handle.id, first, end)
        await office.approvals.approve(approval, approver=BOB)
        (envelope,) = await office.run_of(handle, run_id).result()

    assert isinstance(envelope, Completed)
    assert len(office.books.entries("w")) == 1


async def test_g3_a_rewound_workflow_does_not_get_the_outcome_of_another_request(
    office: Office,
) -> None:
    """A step is the caller's promise; where the input differs by then, nothing is asked or run."""
    async with office.worker():
        handle = await office.start(hold=True)
        first = str(handle.first_execution_run_id)
        # Not before the first workflow task has ended: the signal is to be forgotten.
        await task_end_after(office.client, handle.id, first, 0)
        await handle.signal(Asking.ask, ask("transfer", "w", step="w"))
        approval = office.asked_by(handle, "w")
        await office.until_asked(approval)
        run_id = await reset_to_start(office.client, handle.id, first, reapply=False)
        again = office.run_of(handle, run_id)
        await again.signal(Asking.ask, ask("transfer", "w", step="w", cents=999))
        (envelope,) = await office.answers(again, 1)
        assert (await office.approvals.show(approval)).state == "pending"
        await again.signal(Asking.finish)
        await again.result()

    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.effect) == ("STEP_INPUT_MISMATCH", "possible")
    assert office.books.entries("w") == []
    (closing,) = [event for event in office.events.events if event.type == "capability.failed"]
    assert (closing.run_id, closing.error_code) == (run_id, "STEP_INPUT_MISMATCH")


async def test_g3_a_workflow_that_is_retried_gets_the_outcome_of_the_approval_it_asked_for(
    office: Office,
) -> None:
    """The same step of a workflow-level retry is the same execution: nobody is asked again."""
    async with office.worker():
        handle = await office.start(
            ask("transfer", "w", step="w"),
            fails=1,
            retry_policy=RetryPolicy(maximum_attempts=2),
        )
        approval = office.asked_by(handle, "w")
        await office.until_asked(approval)
        await office.approvals.approve(approval, approver=BOB)
        (envelope,) = await handle.result()

    assert isinstance(envelope, Completed)
    assert envelope.execution_id == approval.removeprefix("approval-")
    assert len(office.books.entries("w")) == 1


async def test_g3_a_workflow_that_asks_anew_after_it_was_decided_asks_a_person_anew(
    office: Office,
) -> None:
    """The same input again: another execution, another approval, and it says what it repeats."""
    async with office.worker():
        handle = await office.start(ask("transfer", "w", step="a"), ask("transfer", "w", step="b"))
        for step in ("a", "b"):
            approval = office.asked_by(handle, step)
            await office.until_asked(approval)
            await office.approvals.approve(approval, approver=BOB)
        first, second = await handle.result()

    assert isinstance(first, Completed)
    assert isinstance(second, Completed)
    assert second.repeat_of == first.execution_id != second.execution_id
    assert [entry.repeat_of for entry in office.books.entries("w")] == [None, first.execution_id]
