"""One key per execution: new where the work is new, the same where it is the same (G5)."""

import json
from datetime import timedelta
from uuid import UUID, uuid5

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleOverlapPolicy,
    ScheduleSpec,
    WorkflowExecutionStatus,
)
from temporalio.common import RetryPolicy

from tests.guarantees.runs.books import Books
from tests.guarantees.runs.jobs import Plan
from tests.guarantees.runs.rewinding import ask, start, worker
from tests.guarantees.runs.workflows import Script
from tests.support.history import history_events
from tests.support.waiting import wait_until

EXECUTIONS = UUID("5b0c1a52-3f0e-5d5e-9d2c-6f1f0b7f4a01")
KEYS = UUID("5b0c1a52-3f0e-5d5e-9d2c-6f1f0b7f4a02")
TWICE = RetryPolicy(maximum_attempts=2, initial_interval=timedelta(milliseconds=1))


def documented(workflow_id: str, original_run_id: str, activity_id: str) -> tuple[str, str]:
    """Execution id and key by the documented formula, written here once more."""
    name = json.dumps(
        ["default", workflow_id, original_run_id, activity_id],
        separators=(",", ":"),
        ensure_ascii=False,
    )
    execution_id = str(uuid5(EXECUTIONS, name))
    return execution_id, str(uuid5(KEYS, execution_id))


async def original_run_id(client: Client, workflow_id: str, run_id: str | None = None) -> str:
    """What the server says of a run in its first event."""
    first = (await history_events(client, workflow_id, run_id))[0]
    return first.workflow_execution_started_event_attributes.original_execution_run_id


async def test_g5_the_key_that_a_handler_sees_is_the_documented_formula(
    desk: Client, task_queue: str, books: Books
) -> None:
    """Recomputed here with uuid5 and json alone, for an automatic and an explicit step.

    The workflow id holds what JSON may write in two ways.
    """
    id_ = f'{task_queue} "é" \\ \u2028'
    plan = Plan(asks=(ask("write", "a"), ask("write", "b", step="refund of é")))
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, plan, id_)
        envelopes = await handle.result()

    origin = await original_run_id(desk, id_)
    assert origin == handle.first_execution_run_id
    for entry, envelope in zip(books.entries(), envelopes, strict=True):
        expected = documented(id_, origin, entry.activity_id)
        assert (entry.execution_id, entry.key) == expected
        assert (envelope.execution_id, envelope.idempotency_key) == expected
        assert len(entry.key) == 36
        assert UUID(entry.key).version == 5
    assert books.entries("b")[0].activity_id == "refund of é"


async def test_g5_two_workflows_with_the_same_step_have_two_keys(
    desk: Client, task_queue: str, books: Books
) -> None:
    """The step id is the same, automatic and explicit, and the keys are four."""
    plan = Plan(asks=(ask("write", "a"), ask("write", "b", step="refund")))
    async with worker(desk, task_queue):
        for id_ in (f"{task_queue}-1", f"{task_queue}-2"):
            await (await start(desk, task_queue, plan, id_)).result()

    assert len({entry.activity_id for entry in books.entries()}) == 2
    assert len({entry.key for entry in books.entries()}) == 4


async def test_g5_a_workflow_id_used_again_gives_new_keys(
    desk: Client, task_queue: str, books: Books
) -> None:
    """The same workflow id, step and input in a later execution are another request."""
    plan = Plan(asks=(ask("write", "a"),))
    async with worker(desk, task_queue):
        for _ in range(2):
            await (await start(desk, task_queue, plan)).result()

    first, second = books.entries("a")
    assert first.activity_id == second.activity_id
    assert first.key != second.key


async def test_g5_continue_as_new_gives_new_keys(
    desk: Client, task_queue: str, books: Books
) -> None:
    """Each continued run is new work, and no run of it asks for anything of an earlier one."""
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, Plan(asks=(ask("write", "a"),), again=2))
        await handle.result()

    assert len(books.entries("a")) == 3
    assert len({entry.activity_id for entry in books.entries("a")}) == 1
    assert len(set(books.keys("a"))) == 3


async def test_g5_a_cron_run_has_new_keys(desk: Client, task_queue: str, books: Books) -> None:
    """The server starts the next run of a cron workflow; its work is new."""
    async with worker(desk, task_queue):
        handle = await desk.start_workflow(
            Script.run,
            Plan(asks=(ask("write", "a"),)),
            id=task_queue,
            task_queue=task_queue,
            cron_schedule="@every 1s",
        )

        async def twice() -> bool:
            return len(books.entries("a")) >= 2

        await wait_until(twice)
        await handle.terminate()

    first, second = books.entries("a")[:2]
    assert first.activity_id == second.activity_id
    assert first.key != second.key


async def test_g5_a_cron_run_that_is_retried_keeps_the_keys_of_its_own_first_attempt(
    desk: Client, task_queue: str, books: Books
) -> None:
    """Workflow retry and cron in one: two attempts share a key, two cron runs do not."""
    async with worker(desk, task_queue):
        handle = await desk.start_workflow(
            Script.run,
            Plan(asks=(ask("charge", "a"),), fails=1),
            id=task_queue,
            task_queue=task_queue,
            cron_schedule="@every 1s",
            retry_policy=TWICE,
        )

        async def four_times() -> bool:
            return len(books.entries("a")) >= 4

        await wait_until(four_times)
        await handle.terminate()

    keys = books.keys("a")[:4]
    assert keys[0] == keys[1]
    assert keys[2] == keys[3]
    assert keys[0] != keys[2]


async def test_g5_a_schedule_gives_each_of_its_runs_new_keys(
    desk: Client, task_queue: str, books: Books
) -> None:
    """Two runs that one schedule started have two keys."""
    action = ScheduleActionStartWorkflow(
        Script.run, Plan(asks=(ask("write", "a"),)), id=task_queue, task_queue=task_queue
    )
    async with worker(desk, task_queue):
        schedule = await desk.create_schedule(task_queue, Schedule(action, spec=ScheduleSpec()))
        try:
            for count in (1, 2):
                # Its workflow ids are made of the second: the run before must have closed.
                await schedule.trigger(overlap=ScheduleOverlapPolicy.ALLOW_ALL)

                async def closed(count: int = count) -> bool:
                    query = f"TemporalScheduledById = '{task_queue}'"
                    runs = [run async for run in desk.list_workflows(query)]
                    ended = [run.status == WorkflowExecutionStatus.COMPLETED for run in runs]
                    return ended == [True] * count

                await wait_until(closed)
        finally:
            await schedule.delete()

    first, second = books.entries("a")
    assert first.activity_id == second.activity_id
    assert first.key != second.key


async def test_g5_a_workflow_retry_keeps_the_key_of_the_first_attempt(
    desk: Client, task_queue: str, books: Books
) -> None:
    """Three attempts of a workflow are one request: the handler sees one key, by the formula.

    The envelope of the last attempt names the same execution, though that run could not know it.
    """
    async with worker(desk, task_queue):
        handle = await desk.start_workflow(
            Script.run,
            Plan(asks=(ask("charge", "a"),), fails=2),
            id=task_queue,
            task_queue=task_queue,
            retry_policy=RetryPolicy(
                maximum_attempts=3, initial_interval=timedelta(milliseconds=1)
            ),
        )
        (envelope,) = await handle.result()

    entries = books.entries("a")
    assert len({entry.run_id for entry in entries}) == 3
    assert {(entry.execution_id, entry.key) for entry in entries} == {
        documented(task_queue, str(handle.first_execution_run_id), entries[0].activity_id)
    }
    assert envelope.execution_id == entries[0].execution_id


async def test_g5_a_workflow_retry_keeps_the_key_of_a_step_that_no_worker_saw(
    desk: Client, task_queue: str
) -> None:
    """What workflow code refuses by itself has one execution id over the attempts as well."""
    async with worker(desk, task_queue):
        handle = await desk.start_workflow(
            Script.run,
            Plan(asks=(ask("unknown", "a", step="unknown"),), fails=1),
            id=task_queue,
            task_queue=task_queue,
            retry_policy=TWICE,
        )
        (envelope,) = await handle.result()

    expected, _ = documented(task_queue, str(handle.first_execution_run_id), "unknown")
    assert envelope.execution_id == expected


async def test_g5_what_a_retried_run_continues_as_has_new_keys(
    desk: Client, task_queue: str, books: Books
) -> None:
    """A retry and a continue-as-new in one chain: the run that continues is first of its own."""
    async with worker(desk, task_queue):
        handle = await desk.start_workflow(
            Script.run,
            Plan(asks=(ask("charge", "a"),), fails=1, again=1),
            id=task_queue,
            task_queue=task_queue,
            retry_policy=TWICE,
        )
        await handle.result()

    first, second, *continued = books.keys("a")
    assert first == second
    assert continued
    assert len({first, *continued}) == 2
