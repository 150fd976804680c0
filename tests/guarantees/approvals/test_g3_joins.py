"""Several approvals in one workflow: side by side, held, and joined by identical requests (G3)."""

from temperance import ApprovalRequired, Completed, Failed
from tests.guarantees.approvals.office import BOB, EVE, Office, ask, refused
from tests.guarantees.approvals.workflows import Asking
from tests.support.waiting import wait_until

ASKED = ["requested", "approval_requested"]
EXECUTED = ["approved", "approval_consumed", "started", "completed"]


async def test_g3_what_needs_no_approval_does_not_wait_for_what_does(office: Office) -> None:
    """Three calls at once, two of them to be decided: in the other order than they were asked."""
    async with office.worker():
        handle = await office.start(
            ask("transfer", "a", step="a"),
            ask("note", "n", step="n"),
            ask("transfer", "b", step="b"),
            at_once=True,
        )
        first, second = office.asked_by(handle, "a"), office.asked_by(handle, "b")
        await office.until_asked(first)
        await office.until_asked(second)
        await office.answers(handle, 1)
        assert [entry.label for entry in office.books.entries()] == ["n"]
        await office.approvals.approve(second, approver=BOB)
        await office.answers(handle, 2)
        assert [entry.label for entry in office.books.entries()] == ["n", "b"]
        await office.approvals.reject(first, approver=EVE)
        answers = await handle.result()

    assert [envelope.status for envelope in answers] == ["completed", "completed", "failed"]
    assert isinstance(answers[2], Failed)
    assert answers[2].code == "APPROVAL_REJECTED"
    assert [entry.label for entry in office.books.entries()] == ["n", "b"]


async def test_g3_several_approvals_are_held_and_awaited_later(office: Office) -> None:
    """Each envelope says which approval it waits for; they are decided in any order."""
    labels = ("a", "b", "c")
    async with office.worker():
        handle = await office.start(
            *(ask("transfer", label, step=label, wait=False) for label in labels), await_held=True
        )
        held = await office.answers(handle, 3)
        assert [envelope.status for envelope in held] == ["approval_required"] * 3
        assert [
            envelope.approval_id for envelope in held if isinstance(envelope, ApprovalRequired)
        ] == [office.asked_by(handle, label) for label in labels]
        for label in ("c", "a"):
            await office.approvals.approve(office.asked_by(handle, label), approver=BOB)
        await office.approvals.cancel(office.asked_by(handle, "b"), by=EVE)
        answers = (await handle.result())[3:]

    outcomes = {envelope.execution_id: envelope for envelope in answers}
    a, b, c = (outcomes[envelope.execution_id] for envelope in held)
    assert isinstance(a, Completed)
    assert isinstance(b, Failed)
    assert isinstance(c, Completed)
    assert (a.output.label, b.code, c.output.label) == ("a", "APPROVAL_CANCELLED", "c")
    assert sorted(entry.label for entry in office.books.entries()) == ["a", "c"]


async def test_g3_what_is_not_waited_for_is_asked_all_the_same(office: Office) -> None:
    """Also where the workflow ends at once; the approval outlives it."""
    async with office.worker():
        handle = await office.start(ask("transfer", "w", step="w", wait=False))
        (envelope,) = await handle.result()
        approval = office.asked_by(handle, "w")
        assert (await office.approvals.show(approval)).state == "pending"
        await office.approvals.approve(approval, approver=BOB)
        outcome = await office.approvals.outcome(approval)

    assert isinstance(envelope, ApprovalRequired)
    assert envelope.approval_id == approval
    assert isinstance(outcome, Completed)
    assert len(office.books.entries("w")) == 1


async def test_g3_an_identical_request_joins_the_approval_that_is_pending(office: Office) -> None:
    """The same value however it is written: one approval, one execution, and both are told.

    Another value, and another requester, are other requests.
    """
    same = ask("transfer", "w", step="b")
    same.raw = '{"card": "4111-SECRET", "cents": "100", "label": "w"}'
    async with office.worker():
        handle = await office.start(
            ask("transfer", "w", step="a"),
            same,
            ask("transfer", "w", step="c", cents=101),
            ask("transfer", "w", step="d", actor="grace"),
            at_once=True,
        )
        others = [office.asked_by(handle, step) for step in ("c", "d")]
        for approval in others:
            await office.until_asked(approval)
            await office.approvals.reject(approval, approver=EVE)
        await office.answers(handle, 2)
        asked = [office.asked_by(handle, step) for step in ("a", "b")]

        async def joined_one() -> str:
            for event in office.events.events:
                if event.type == "capability.approval_joined":
                    return str(event.approval_id)
            return ""

        approval = await wait_until(joined_one)
        assert approval in asked
        await office.until_asked(approval)
        for other in {*asked} - {approval}:
            assert await refused(office.approvals.show(other)) == "CAPABILITY_NOT_FOUND"
        await office.approvals.approve(approval, approver=BOB)
        answers = await handle.result()

    execution_id = approval.removeprefix("approval-")
    own, joined = sorted(answers[2:], key=lambda envelope: envelope.joined is not None)
    assert isinstance(own, Completed)
    assert isinstance(joined, Completed)
    assert (own.joined, own.execution_id) == (None, execution_id)
    assert joined.execution_id == execution_id
    assert joined.joined in {approval.removeprefix("approval-") for approval in asked}
    assert joined.output == own.output
    assert len(office.books.entries("w")) == 1
    assert office.trail(execution_id) == [*ASKED, *EXECUTED]
    assert office.trail(str(joined.joined)) == [*ASKED, "approval_joined"]
    (noted,) = [
        event for event in office.events.events if event.type == "capability.approval_joined"
    ]
    assert (noted.approval_id, noted.effect) == (approval, "none")


async def test_g3_an_identical_request_that_is_not_waited_for_says_what_it_joined(
    office: Office,
) -> None:
    """It joins while the approval is pending, and while what was approved executes."""
    async with office.worker():
        handle = await office.start(
            ask("transfer", "w", "wait", step="a", wait=False),
            ask("transfer", "w", "wait", step="b", wait=False),
            hold=True,
        )
        first, second = await office.answers(handle, 2)
        approval = office.asked_by(handle, "a")
        await office.approvals.approve(approval, approver=BOB)
        await office.until_entered("w")
        await handle.signal(Asking.ask, ask("transfer", "w", "wait", step="c", wait=False))
        third = (await office.answers(handle, 3))[2]
        office.books.open_gate("w")
        await office.approvals.outcome(approval)
        await handle.signal(Asking.finish)
        await handle.result()

    for envelope in (first, second, third):
        assert isinstance(envelope, ApprovalRequired)
        assert envelope.approval_id == approval
        assert envelope.execution_id == first.execution_id
    assert first.joined is None
    assert [second.joined, third.joined] == [
        office.asked_by(handle, step).removeprefix("approval-") for step in ("b", "c")
    ]
    assert len(office.books.entries("w")) == 1


async def test_g3_an_approved_execution_goes_to_the_queue_that_was_asked_for(
    office: Office,
) -> None:
    """As one that needs no approval would."""
    there = f"{office.queue}-there"
    async with office.worker():
        handle = await office.start(ask("transfer", "w", step="w", queue=there))
        approval = office.asked_by(handle, "w")
        async with office.worker(queue=there):
            await office.until_asked(approval)
            await office.approvals.approve(approval, approver=BOB)
            (envelope,) = await handle.result()

    assert isinstance(envelope, Completed)
    queues = {
        event.activity_task_scheduled_event_attributes.task_queue.name
        for event in await office.history(approval)
        if event.HasField("activity_task_scheduled_event_attributes")
        and event.activity_task_scheduled_event_attributes.activity_id == "execute"
    }
    assert queues == {there}


async def test_g3_what_is_too_large_for_one_message_is_asked_for_one_by_one(
    office: Office,
) -> None:
    """All demands arrive in one workflow task, and each input goes to its approval twice.

    Sent in one message, four of half a megabyte would end the workflow.
    """
    there = f"{office.queue}-there"
    steps = ("a", "b", "c", "d")
    plan = [ask("transfer", step * 600_000, step=step, wait=False, queue=there) for step in steps]
    async with office.worker():
        handle = await office.start(hold=True)
        for entry in plan:
            await handle.signal(Asking.ask, entry)

        async def scheduled() -> bool:
            return (await office.names(handle.id)).count("ACTIVITY_TASK_SCHEDULED") == 4

        await wait_until(scheduled)
    # Only now, so that no worker looks at a demand before all are there.
    async with office.worker(queue=there):

        async def demanded() -> bool:
            return (await office.names(handle.id)).count("ACTIVITY_TASK_COMPLETED") == 4

        await wait_until(demanded)
    async with office.worker():
        answers = await office.answers(handle, 4)
        await handle.signal(Asking.finish)
        await handle.result()
        for step in steps:
            await office.approvals.reject(office.asked_by(handle, step), approver=BOB)

    assert {envelope.status for envelope in answers} == {"approval_required"}
