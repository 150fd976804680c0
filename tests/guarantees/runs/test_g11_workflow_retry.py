"""A write that had begun is not begun again by a retry of its workflow (G11)."""

from datetime import timedelta

import pytest
from temporalio.client import Client, WorkflowHandle
from temporalio.common import RetryPolicy

from temperance import Completed, Failed
from tests.guarantees.runs.books import Books
from tests.guarantees.runs.jobs import Act, Plan
from tests.guarantees.runs.rewinding import ask, next_attempt, reset_to_start, script, worker
from tests.guarantees.runs.test_g5_keys import documented
from tests.guarantees.runs.workflows import Answers, Script
from tests.support.waiting import wait_until

THRICE = RetryPolicy(maximum_attempts=3, initial_interval=timedelta(milliseconds=1))


async def retried(client: Client, queue: str, plan: Plan) -> WorkflowHandle[Script, Answers]:
    """Starts a workflow that the server retries."""
    return await client.start_workflow(
        Script.run, plan, id=queue, task_queue=queue, retry_policy=THRICE
    )


async def test_g11_a_write_that_completed_gives_its_recorded_result_after_a_workflow_retry(
    desk: Client, task_queue: str, books: Books
) -> None:
    """Three attempts of the workflow, one effect.

    The last envelope names the execution that ran, though its own run could not derive the id and
    the recorded result did not say it.
    """
    async with worker(desk, task_queue):
        handle = await retried(desk, task_queue, Plan(asks=(ask("write", "w"),), fails=2))
        (envelope,) = await handle.result()

    (entry,) = books.entries("w")
    first = str(handle.first_execution_run_id)
    assert entry.run_id == first
    assert isinstance(envelope, Completed)
    assert envelope.output.key == entry.key
    assert envelope.execution_id == documented(task_queue, first, entry.activity_id)[0]


@pytest.mark.parametrize("act", ["raise", "decline"])
async def test_g11_a_write_that_failed_after_it_began_is_refused_after_a_workflow_retry(
    desk: Client, task_queue: str, books: Books, act: Act
) -> None:
    """And the refusal of the second attempt does not let the third one run it."""
    async with worker(desk, task_queue):
        handle = await retried(desk, task_queue, Plan(asks=(ask("write", "w", act),), fails=2))
        (envelope,) = await handle.result()

    (entry,) = books.entries("w")
    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.effect) == ("RESET_FORBIDDEN", "possible")
    assert envelope.execution_id == entry.execution_id


async def test_g11_a_write_that_still_ran_when_its_workflow_failed_is_not_begun_again(
    desk: Client, task_queue: str, books: Books
) -> None:
    """The first attempt of the workflow failed without waiting for it."""
    plan = Plan(beside=(ask("write", "w", "wait"),), asks=(ask("read", "r", "wait"),), fails=1)
    async with worker(desk, task_queue):
        handle = await retried(desk, task_queue, plan)

        async def both_run() -> bool:
            return len(books.entries()) == 2

        await wait_until(both_run)
        books.open_gate("r")
        envelopes = await handle.result()
        books.open_gate("w")

    assert sorted(envelope.status for envelope in envelopes) == ["completed", "failed"]
    refused = next(envelope for envelope in envelopes if isinstance(envelope, Failed))
    assert (refused.code, refused.effect) == ("RESET_FORBIDDEN", "possible")
    assert [entry.run_id for entry in books.entries("w")] == [handle.first_execution_run_id]


async def test_g11_a_retried_run_that_is_reset_is_asked_about_all_runs_before(
    desk: Client, task_queue: str, books: Books
) -> None:
    """From the reset of the second attempt, by way of that, to the first, where the write was."""
    async with worker(desk, task_queue):
        handle = await retried(desk, task_queue, Plan(asks=(ask("write", "w"),), fails=1))
        before = await handle.result()
        last = script(desk, task_queue)
        second = (await last.describe()).run_id
        third = await reset_to_start(desk, task_queue, second)
        after = await script(desk, task_queue, third).result()

    assert after == before
    assert [entry.run_id for entry in books.entries("w")] == [handle.first_execution_run_id]


async def test_g11_a_reset_of_the_first_attempt_is_asked_about_the_retries_beside_it(
    desk: Client, task_queue: str, books: Books
) -> None:
    """The write was in the second attempt only, and no link leads there from the first."""
    async with worker(desk, task_queue):
        handle = await retried(desk, task_queue, Plan(fails=1, hold=True))
        first = str(handle.first_execution_run_id)
        second = await next_attempt(desk, task_queue, first)
        envelope = await handle.execute_update(Script.ask_now, ask("write", "w", step="w"))
        third = await reset_to_start(desk, task_queue, first)
        await next_attempt(desk, task_queue, third)
        current = script(desk, task_queue)
        again = await current.execute_update(Script.ask_now, ask("write", "w", step="w"))

    assert again == envelope
    assert [entry.run_id for entry in books.entries("w")] == [second]
