"""What had not begun may begin after a reset (G11): a refusal, a queue that nobody served."""

from datetime import timedelta

import pytest
from temporalio.client import Client, WorkflowFailureError

from temperance import (
    Approval,
    ApprovalRequired,
    Cancelled,
    Decision,
    Failed,
    Policy,
    Request,
    TemperancePlugin,
    allow,
    deny,
)
from temperance.embedded import EmbeddedServer
from tests.guarantees.runs.books import Books
from tests.guarantees.runs.capabilities import app_of
from tests.guarantees.runs.jobs import Plan
from tests.guarantees.runs.rewinding import (
    answers,
    ask,
    finish,
    reset_to_start,
    scheduled,
    start,
    task_end_after,
    worker,
)
from tests.guarantees.runs.workflows import Script


async def test_g11_a_write_that_a_policy_denied_may_run_after_a_reset(
    embedded: EmbeddedServer, desk: Client, task_queue: str, books: Books
) -> None:
    """The rules were corrected and the workflow rewound: nothing had begun, so now it may."""

    def closed(request: Request[object, object]) -> Decision:
        return deny("CLOSED", "Not now.") if request.capability.id == "runs.write" else allow()

    strict = await embedded.connect(
        plugins=[TemperancePlugin(app_of(books, policies=[Policy(closed)]))]
    )
    async with worker(strict, task_queue):
        handle = await start(desk, task_queue, Plan(asks=(ask("write", "w"),), hold=True))
        first = str(handle.first_execution_run_id)
        (denied,) = await answers(desk, task_queue, first, 1)
    second = await reset_to_start(desk, task_queue, first)
    async with worker(desk, task_queue):
        (envelope,) = await finish(desk, task_queue)

    assert isinstance(denied, Failed)
    assert (denied.code, denied.effect) == ("POLICY_DENIED", "none")
    assert envelope.status == "completed"
    assert [entry.run_id for entry in books.entries("w")] == [second]
    assert books.entries("w")[0].execution_id == denied.execution_id


async def test_g11_a_write_that_no_worker_took_in_time_may_run_after_a_reset(
    desk: Client, task_queue: str, books: Books
) -> None:
    """It timed out in the queue, which proves that no handler was entered."""
    queue = f"{task_queue}-activities"
    async with worker(desk, task_queue):
        asks = (ask("queued_write", "w", queue=queue),)
        handle = await start(desk, task_queue, Plan(asks=asks, hold=True))
        first = str(handle.first_execution_run_id)
        (unserved,) = await answers(desk, task_queue, first, 1)
        async with worker(desk, queue):
            second = await reset_to_start(desk, task_queue, first)
            (envelope,) = await finish(desk, task_queue)

    assert isinstance(unserved, Failed)
    assert (unserved.code, unserved.effect) == ("TIMEOUT", "none")
    assert envelope.status == "completed"
    assert [entry.run_id for entry in books.entries("w")] == [second]


async def test_g11_a_write_that_was_cancelled_in_the_queue_may_run_after_a_reset(
    desk: Client, task_queue: str, books: Books
) -> None:
    """The server cancelled it before any worker had it."""
    queue = f"{task_queue}-activities"
    async with worker(desk, task_queue):
        asks = (ask("write", "w", step="w", queue=queue),)
        handle = await start(desk, task_queue, Plan(asks=asks, hold=True))
        first = str(handle.first_execution_run_id)
        await scheduled(desk, task_queue, first, "w")
        await handle.cancel()
        with pytest.raises(WorkflowFailureError):
            await handle.result()
        (cancelled,) = await handle.query(Script.answers)
        async with worker(desk, queue):
            second = await reset_to_start(desk, task_queue, first)
            (envelope,) = await finish(desk, task_queue)

    assert isinstance(cancelled, Cancelled)
    assert cancelled.effect == "none"
    assert envelope.status == "completed"
    assert [entry.run_id for entry in books.entries("w")] == [second]


async def test_g11_a_write_that_its_worker_did_not_know_may_run_after_a_reset(
    embedded: EmbeddedServer, desk: Client, task_queue: str, books: Books
) -> None:
    """The worker of an older deploy had no such capability: the SDK said so before any handler."""
    queue = f"{task_queue}-activities"
    old = await embedded.connect(
        plugins=[TemperancePlugin(app_of(books, without="runs.other_write"))]
    )
    async with worker(desk, task_queue):
        async with worker(old, queue):
            asks = (ask("other_write", "w", queue=queue),)
            handle = await start(desk, task_queue, Plan(asks=asks, hold=True))
            first = str(handle.first_execution_run_id)
            (unknown,) = await answers(desk, task_queue, first, 1)
        async with worker(desk, queue):
            second = await reset_to_start(desk, task_queue, first)
            (envelope,) = await finish(desk, task_queue)

    assert isinstance(unknown, Failed)
    assert (unknown.code, unknown.effect) == ("INTERNAL_ERROR", "none")
    assert envelope.status == "completed"
    assert [entry.run_id for entry in books.entries("w")] == [second]


async def test_g11_a_request_that_was_to_be_approved_is_asked_for_again_after_a_reset(
    desk: Client, task_queue: str, books: Books
) -> None:
    """That activity completed, and yet nothing had begun: its answer is not the write's."""
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, Plan(asks=(ask("approved_write", "w"),), hold=True))
        first = str(handle.first_execution_run_id)
        (before,) = await answers(desk, task_queue, first, 1)
        await reset_to_start(desk, task_queue, first)
        (after,) = await finish(desk, task_queue)

    assert isinstance(before, ApprovalRequired)
    assert isinstance(after, ApprovalRequired)
    assert after.expires_at > before.expires_at
    assert after.expires_at - before.expires_at < Approval().expires_in + timedelta(minutes=1)
    assert books.entries() == []


async def test_g11_a_refusal_of_a_reset_run_does_not_count_against_a_later_one(
    desk: Client, task_queue: str, books: Books
) -> None:
    """The second run refused another input; rewound once more, the recorded one is the answer."""
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, Plan(hold=True))
        first = str(handle.first_execution_run_id)
        await task_end_after(desk, task_queue, first, 0)
        await handle.signal(Script.ask, ask("write", "w", step="w"))
        before = await answers(desk, task_queue, first, 1)
        second = await reset_to_start(desk, task_queue, first, reapply=False)
        await task_end_after(desk, task_queue, second, 4)
        await handle.signal(Script.ask, ask("write", "w", step="w", note="changed"))
        (refused,) = await answers(desk, task_queue, second, 1)
        third = await reset_to_start(desk, task_queue, second, reapply=False)
        await handle.signal(Script.ask, ask("write", "w", step="w"))
        after = await answers(desk, task_queue, third, 1)

    assert isinstance(refused, Failed)
    assert (refused.code, refused.effect) == ("STEP_INPUT_MISMATCH", "done")
    assert after == before
    assert [entry.run_id for entry in books.entries("w")] == [first]
