"""A reset rewinds a workflow, and what it asks for again keeps its key (G5).

The capability is one that may be repeated under its key, so that the second handler run shows it.
"""

from datetime import timedelta

from temporalio.client import Client
from temporalio.common import RetryPolicy

from temperance import MemorySink
from tests.guarantees.runs.books import Books
from tests.guarantees.runs.jobs import Plan
from tests.guarantees.runs.rewinding import (
    answers,
    ask,
    finish,
    reset,
    reset_before,
    reset_to_start,
    scheduled,
    script,
    start,
    steps,
    task_end_after,
    worker,
)
from tests.guarantees.runs.test_g5_keys import documented
from tests.guarantees.runs.workflows import After, Answers, Before, Script
from tests.support.waiting import wait_until

RETRIED = RetryPolicy(maximum_attempts=3, initial_interval=timedelta(milliseconds=1))


async def test_g5_a_reset_and_a_reset_of_it_keep_the_key(
    desk: Client, task_queue: str, books: Books, events: MemorySink
) -> None:
    """Three runs of one workflow ask for the same step: one execution, by the formula.

    What happened in each run is recorded as an event of its own, and not taken for a redelivery.
    """
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, Plan(asks=(ask("charge", "a"),), hold=True))
        first = str(handle.first_execution_run_id)
        await answers(desk, task_queue, first, 1)
        second = await reset_to_start(desk, task_queue, first)
        await answers(desk, task_queue, second, 1)
        third = await reset_to_start(desk, task_queue, second)
        (envelope,) = await finish(desk, task_queue)

    entries = books.entries("a")
    assert [entry.run_id for entry in entries] == [first, second, third]
    expected = documented(task_queue, first, entries[0].activity_id)
    assert {(entry.execution_id, entry.key) for entry in entries} == {expected}
    assert envelope.execution_id == expected[0]
    completed = [event for event in events.events if event.type == "capability.completed"]
    assert [event.run_id for event in completed] == [first, second, third]
    assert {event.execution_id for event in completed} == {expected[0]}


async def test_g5_an_activity_that_a_reset_dispatches_again_keeps_its_key(
    desk: Client, task_queue: str, books: Books
) -> None:
    """It was pending at the reset point, and its recorded event counts in the new run."""
    async with worker(desk, task_queue):
        plan = Plan(asks=(ask("charge", "a", "wait", step="a"),), hold=True)
        handle = await start(desk, task_queue, plan)
        first = str(handle.first_execution_run_id)
        pending = await scheduled(desk, task_queue, first, "a")

        async def running() -> bool:
            return len(books.entries("a")) == 1

        await wait_until(running)
        await handle.signal(Script.nudge)
        nudged = await task_end_after(desk, task_queue, first, pending.event_id)
        second = await reset(desk, task_queue, first, nudged)
        assert (await scheduled(desk, task_queue, second, "a")).event_id == pending.event_id

        async def dispatched_again() -> bool:
            return len(books.entries("a")) == 2

        await wait_until(dispatched_again)
        books.open_gate("a")
        (envelope,) = await finish(desk, task_queue)

    entries = books.entries("a")
    assert [entry.run_id for entry in entries] == [first, second]
    assert {entry.key for entry in entries} == {envelope.idempotency_key}
    assert envelope.execution_id == documented(task_queue, first, "a")[0]


async def test_g5_signals_that_a_reset_applies_first_do_not_swap_keys(
    desk: Client, task_queue: str, books: Books
) -> None:
    """The server applies the signals again before the workflow has done anything.

    So what the signals ask for now comes before what the workflow asks for by itself: ids that
    count would swap. Each call keeps its step and its key all the same.
    """
    labels = ("own", "signal-1", "signal-2")
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, Plan(asks=(ask("charge", "own"),), hold=True))
        first = str(handle.first_execution_run_id)
        await answers(desk, task_queue, first, 1)
        for count, label in enumerate(labels[1:], start=2):
            await handle.signal(Script.ask, ask("charge", label))
            await answers(desk, task_queue, first, count)
        second = await reset_to_start(desk, task_queue, first)
        await answers(desk, task_queue, second, 3)
        await finish(desk, task_queue)

    by_label = {label: books.entries(label) for label in labels}
    before, after = await steps(desk, task_queue, first), await steps(desk, task_queue, second)
    assert before == [by_label[label][0].activity_id for label in labels]
    assert after != before
    assert sorted(after) == sorted(before)
    for entries in by_label.values():
        assert [entry.run_id for entry in entries] == [first, second]
        assert len({entry.key for entry in entries}) == 1
    assert len({entries[0].key for entries in by_label.values()}) == 3


async def test_g5_a_deploy_that_inserts_a_step_does_not_swap_keys(
    desk: Client, task_queue: str, books: Books
) -> None:
    """A reset into changed code: a call stands before the others, and they changed places.

    The calls that were there before keep their keys; the new one has a key of its own.
    """
    async with worker(desk, task_queue, Before):
        handle = await desk.start_workflow(Before.run, id=task_queue, task_queue=task_queue)
        before: Answers = await handle.result()
    await reset_to_start(desk, task_queue, str(handle.first_execution_run_id))
    async with worker(desk, task_queue, After):
        deployed = desk.get_workflow_handle(task_queue, result_type=Answers)
        inserted, *after = await deployed.result()

    for label, was, became in zip(("first", "second"), before, after, strict=True):
        keys = {was.idempotency_key, became.idempotency_key}
        assert set(books.keys(label)) == keys
        assert len(keys) == 1
    assert books.keys("inserted") == [inserted.idempotency_key]
    assert len({entry.key for entry in books.entries()}) == 3


async def test_g5_a_retried_run_keeps_its_key_when_it_is_reset(
    desk: Client, task_queue: str, books: Books
) -> None:
    """Workflow retries and resets of them, in a chain: always the key of the first attempt.

    Attempts 1 to 3, then attempt 2 reset (it fails once more and is retried): five runs.
    """
    async with worker(desk, task_queue):
        plan = Plan(asks=(ask("charge", "a"),), fails=2)
        handle = await desk.start_workflow(
            Script.run, plan, id=task_queue, task_queue=task_queue, retry_policy=RETRIED
        )
        await handle.result()
        first, second, third = (entry.run_id for entry in books.entries("a"))
        fourth = await reset_to_start(desk, task_queue, second)
        (envelope,) = await script(desk, task_queue, fourth).result()

    entries = books.entries("a")
    assert [entry.run_id for entry in entries[:4]] == [first, second, third, fourth]
    assert len({entry.run_id for entry in entries}) == 5
    expected = documented(task_queue, first, entries[0].activity_id)
    assert {(entry.execution_id, entry.key) for entry in entries} == {expected}
    assert envelope.execution_id == expected[0]


async def test_g5_a_reset_first_attempt_that_is_retried_keeps_its_key(
    desk: Client, task_queue: str, books: Books
) -> None:
    """A reset of the first attempt, whose new run fails and is retried."""
    async with worker(desk, task_queue):
        plan = Plan(asks=(ask("charge", "a"), ask("charge", "b", "wait", step="b")), fails=1)
        handle = await desk.start_workflow(
            Script.run, plan, id=task_queue, task_queue=task_queue, retry_policy=RETRIED
        )
        first = str(handle.first_execution_run_id)
        await scheduled(desk, task_queue, first, "b")
        second = await reset_to_start(desk, task_queue, first)
        books.open_gate("b")
        envelopes = await script(desk, task_queue, second).result()

    entries = books.entries("a")
    assert [entry.run_id for entry in entries[:2]] == [first, second]
    assert len({entry.run_id for entry in entries}) == 3
    expected = documented(task_queue, first, entries[0].activity_id)
    assert {(entry.execution_id, entry.key) for entry in entries} == {expected}
    assert envelopes[0].execution_id == expected[0]


async def test_g5_a_reset_of_a_continued_run_keeps_the_keys_of_that_run(
    desk: Client, task_queue: str, books: Books
) -> None:
    """Continue-as-new gives new keys, and a reset of the continued run keeps those."""
    async with worker(desk, task_queue):
        plan = Plan(asks=(ask("charge", "a"),), again=1)
        handle = await start(desk, task_queue, plan)
        await handle.result()
        first, second = (entry.run_id for entry in books.entries("a"))
        third = await reset_before(desk, task_queue, second, books.entries("a")[1].activity_id)
        await script(desk, task_queue, third).result()

    entries = books.entries("a")
    assert [entry.run_id for entry in entries] == [first, second, third]
    assert entries[0].key != entries[1].key == entries[2].key
