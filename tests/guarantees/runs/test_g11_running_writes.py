"""A write that runs, waits or was lost when its workflow is reset is not begun again (G11)."""

import pytest
from temporalio.client import Client, WorkflowFailureError

from temperance.embedded import EmbeddedServer
from tests.conftest import StartWorker
from tests.guarantees.runs.books import Books
from tests.guarantees.runs.jobs import Plan
from tests.guarantees.runs.rewinding import (
    answers,
    ask,
    finish,
    reset,
    reset_to_start,
    scheduled,
    start,
    task_end_after,
    worker,
)
from tests.guarantees.runs.test_g11_resets import REFUSED, ended
from tests.guarantees.runs.workflows import Script
from tests.support.waiting import wait_until


async def until_entered(books: Books) -> None:
    """Waits until the write is in its handler."""

    async def entered() -> bool:
        return len(books.entries("w")) == 1

    await wait_until(entered)


async def test_g11_a_write_that_still_runs_when_the_workflow_is_reset_is_not_begun_again(
    desk: Client, task_queue: str, books: Books
) -> None:
    """It runs on in the old run while the new one asks for it, and then takes its effect."""
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, Plan(asks=(ask("write", "w", "wait"),), hold=True))
        first = str(handle.first_execution_run_id)
        await until_entered(books)
        second = await reset_to_start(desk, task_queue, first)
        (refused,) = await answers(desk, task_queue, second, 1)
        books.open_gate("w")

    assert ended(refused) == REFUSED
    assert [entry.run_id for entry in books.entries("w")] == [first]


async def test_g11_a_write_that_was_cancelled_while_it_ran_is_refused_after_a_reset(
    desk: Client, task_queue: str, books: Books
) -> None:
    """Its workflow was cancelled in the midst of it, and is rewound to its start."""
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, Plan(asks=(ask("write", "w", "wait"),), hold=True))
        await until_entered(books)
        await handle.cancel()
        with pytest.raises(WorkflowFailureError):
            await handle.result()
        await reset_to_start(desk, task_queue, str(handle.first_execution_run_id))
        (refused,) = await finish(desk, task_queue)

    assert ended(refused) == REFUSED
    assert len(books.entries("w")) == 1


async def test_g11_a_write_whose_worker_was_killed_is_refused_after_a_reset(
    embedded: EmbeddedServer,
    desk: Client,
    task_queue: str,
    books: Books,
    worker_process: StartWorker,
) -> None:
    """The server timed it out after its start: nobody can say how far it got."""
    arguments = (embedded.target_host, task_queue, str(books.folder))
    first = await worker_process("tests.guarantees.runs.worker", *arguments)
    plan = Plan(asks=(ask("brief_write", "w", "wait"),), hold=True)
    handle = await start(desk, task_queue, plan)
    await until_entered(books)
    first.kill()
    await first.wait()
    async with worker(desk, task_queue):
        (lost,) = await answers(desk, task_queue, None, 1)
        await reset_to_start(desk, task_queue, str(handle.first_execution_run_id))
        (refused,) = await finish(desk, task_queue)

    assert ended(lost) == ("failed", "TIMEOUT", "possible")
    assert ended(refused) == REFUSED
    assert len(books.entries("w")) == 1


async def test_g11_a_pending_write_that_a_reset_dispatches_again_is_not_begun_again(
    desk: Client, task_queue: str, books: Books
) -> None:
    """The reset point lies after it was scheduled: the server itself dispatches it once more."""
    async with worker(desk, task_queue):
        plan = Plan(asks=(ask("write", "w", "wait", step="w"),), hold=True)
        handle = await start(desk, task_queue, plan)
        first = str(handle.first_execution_run_id)
        pending = await scheduled(desk, task_queue, first, "w")
        await handle.signal(Script.nudge)
        nudged = await task_end_after(desk, task_queue, first, pending.event_id)
        second = await reset(desk, task_queue, first, nudged)
        assert (await scheduled(desk, task_queue, second, "w")).event_id == pending.event_id
        (refused,) = await answers(desk, task_queue, second, 1)
        books.open_gate("w")

    assert ended(refused) == REFUSED
    assert len(books.entries("w")) <= 1
