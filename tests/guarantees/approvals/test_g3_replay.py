"""What was recorded just now is replayed elsewhere; committed histories: tests/replay (G3)."""

from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer

from temperance import MemorySink, TemperancePlugin
from tests.guarantees.approvals.capabilities import app_of
from tests.guarantees.approvals.office import BOB, Office, ask
from tests.guarantees.approvals.workflows import Asking


async def test_g3_histories_of_approvals_are_replayed_under_another_namespace_and_id(
    office: Office,
) -> None:
    """As a test of a deploy does it: pending, decided and completed, and whoever asked.

    Nothing in them may be derived from where they are replayed. No handler, no event.
    """
    histories: list[WorkflowHistory] = []

    async with office.worker():
        handle = await office.start(
            ask("transfer", "held", step="h", wait=False),
            ask("transfer", "w", "wait", step="w"),
            await_held=True,
        )
        approval, held = office.asked_by(handle, "w"), office.asked_by(handle, "h")

        async def keep(*workflow_ids: str) -> None:
            for workflow_id in workflow_ids:
                history = await office.client.get_workflow_handle(workflow_id).fetch_history()
                histories.append(WorkflowHistory(f"{len(histories)}", history.events))

        await office.until_asked(approval)
        await keep(handle.id, approval)
        await office.approvals.approve(approval, approver=BOB)
        await office.until_entered("w")
        await keep(handle.id, approval)
        office.books.open_gate("w")
        await office.approvals.outcome(approval)
        await office.approvals.reject(held, approver=BOB)
        await handle.result()
        await keep(handle.id, approval, held)

    events = MemorySink()
    app = app_of(office.books, [events])
    replayer = Replayer(workflows=[Asking], plugins=[TemperancePlugin(app)])
    for history in histories:
        await replayer.replay_workflow(history)

    assert len(office.books.entries()) == 1
    assert events.events == []
