"""A request that is made again is a new execution, and says what it repeats (G4, G5)."""

from datetime import timedelta
from typing import NoReturn

import pytest
from temporalio.client import Client
from temporalio.common import RetryPolicy
from temporalio.worker import Replayer

from temperance import Failed, MemorySink, TemperancePlugin
from tests.guarantees.runs.books import Books
from tests.guarantees.runs.capabilities import app_of
from tests.guarantees.runs.jobs import Plan
from tests.guarantees.runs.rewinding import ask, finish, start, steps, worker
from tests.guarantees.runs.workflows import Script
from tests.support.waiting import wait_until

TWICE = RetryPolicy(maximum_attempts=2, initial_interval=timedelta(milliseconds=1))


async def replay(books: Books, client: Client, workflow_id: str) -> MemorySink:
    """Replays a workflow in an application of its own, and gives the events of that."""
    events = MemorySink()
    replayer = Replayer(workflows=[Script], plugins=[TemperancePlugin(app_of(books, [events]))])
    history = await client.get_workflow_handle(workflow_id).fetch_history()
    await replayer.replay_workflow(history)
    return events


async def test_g4_equal_calls_in_a_loop_are_executions_that_name_the_first(
    desk: Client, task_queue: str, books: Books, events: MemorySink
) -> None:
    """Three calls with one input, one with another between them: envelope, handler and events."""
    asks = (ask("write", "a"), ask("write", "a"), ask("write", "b"), ask("write", "a"))
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, Plan(asks=asks))
        first, second, other, third = await handle.result()

    ids = [envelope.execution_id for envelope in (first, second, other, third)]
    assert len(set(ids)) == len({entry.key for entry in books.entries()}) == 4
    repeats = [None, first.execution_id, None, first.execution_id]
    assert [envelope.repeat_of for envelope in (first, second, other, third)] == repeats
    assert [entry.repeat_of for entry in books.entries()] == repeats
    for execution_id, repeat in zip(ids, repeats, strict=True):
        trail = [event for event in events.events if event.execution_id == execution_id]
        assert len(trail) == 3
        assert {event.repeat_of for event in trail} == {repeat}


async def test_g4_explicit_steps_repeat_what_was_asked_before_under_any_step(
    desk: Client, task_queue: str, books: Books
) -> None:
    """Capability and input count: an explicit step neither hides a repeat nor makes one."""
    asks = (
        ask("write", "a", step="one"),
        ask("write", "a", step="two"),
        ask("write", "a"),
        ask("charge", "a", step="three"),
    )
    async with worker(desk, task_queue):
        envelopes = await (await start(desk, task_queue, Plan(asks=asks))).result()

    first = envelopes[0].execution_id
    assert [envelope.repeat_of for envelope in envelopes] == [None, first, first, None]
    assert len({entry.key for entry in books.entries()}) == 4


async def test_g4_a_repeat_of_a_request_that_nothing_ran_for_names_it(
    desk: Client, task_queue: str, events: MemorySink
) -> None:
    """A refusal in workflow code is an execution like any other, and so is its repeat."""
    async with worker(desk, task_queue):
        plan = Plan(asks=(ask("unknown", "a"), ask("unknown", "a")))
        first, second = await (await start(desk, task_queue, plan)).result()

    assert (first.repeat_of, second.repeat_of) == (None, first.execution_id)
    denied = [event for event in events.events if event.type == "capability.denied"]
    assert [event.repeat_of for event in denied] == [None, first.execution_id]


async def test_g4_a_repeat_in_a_retried_workflow_names_the_execution_that_it_repeats(
    desk: Client, task_queue: str, books: Books
) -> None:
    """A retried run cannot derive the ids of its executions by itself, and still gets them right.

    At once, so that the repeat may end before what it repeats; once more for what no worker saw;
    and for a request that fails.
    """
    asks = (
        *(ask("charge", "a", "wait"), ask("charge", "a", "wait")),
        *(ask("unknown", "u"), ask("unknown", "u")),
        *(ask("charge", "f", "raise"), ask("charge", "f", "raise")),
    )
    async with worker(desk, task_queue):
        books.open_gate("a")
        handle = await desk.start_workflow(
            Script.run,
            Plan(asks=asks, at_once=True, fails=1),
            id=task_queue,
            task_queue=task_queue,
            retry_policy=TWICE,
        )
        envelopes = await handle.result()

    ids = {envelope.execution_id for envelope in envelopes}
    assert len(ids) == 6
    assert ids >= {entry.execution_id for entry in books.entries()}
    repeats = [envelope for envelope in envelopes if envelope.repeat_of is not None]
    assert len(repeats) == 3
    assert {envelope.repeat_of for envelope in repeats} == ids - {
        envelope.execution_id for envelope in repeats
    }


async def test_g5_equal_calls_at_once_have_distinct_keys_that_a_replay_gives_again(
    desk: Client, task_queue: str, books: Books
) -> None:
    """Ten equal calls in one gather, among others: numbered in the order of the calls."""
    asks = tuple(ask("write", "a" if count % 2 else "b") for count in range(10))
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, Plan(asks=asks, at_once=True))
        await handle.result()
        again = await replay(books, desk, task_queue)

    assert len({entry.key for entry in books.entries()}) == 10
    ids = await steps(desk, task_queue)
    assert [step.rsplit("-", 1)[1] for step in ids] == [
        "1",
        "1",
        "2",
        "2",
        "3",
        "3",
        "4",
        "4",
        "5",
        "5",
    ]
    assert len(set(ids)) == 10
    assert again.events == []


async def test_g6_a_replay_repeats_nothing_and_names_the_same_repeats(
    desk: Client, task_queue: str, books: Books, events: MemorySink
) -> None:
    """Replayed from history in another application: no handler, no event, the same envelopes."""
    plan = Plan(asks=(ask("write", "a"), ask("write", "a", step="again")), hold=True)
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, plan)

        async def both() -> bool:
            return len(await handle.query(Script.answers)) == 2

        await wait_until(both)
        before = await handle.query(Script.answers)
    async with worker(desk, task_queue):
        after = await finish(desk, task_queue)

    assert after == before
    assert after[1].repeat_of == after[0].execution_id
    assert len(books.entries()) == 2
    assert len(events.events) == 6
    assert (await replay(books, desk, task_queue)).events == []
    assert len(books.entries()) == 2


async def test_g2_what_arrives_while_a_write_runs_does_not_start_it_again(
    desk: Client, task_queue: str, books: Books
) -> None:
    """Signals, an update and a query wake the workflow up in the midst of a write.

    Without a cache, so that each of them replays the workflow from its beginning.
    """
    async with worker(desk, task_queue, cached=0):
        handle = await start(desk, task_queue, Plan(asks=(ask("write", "w", "wait"),), hold=True))

        async def running() -> bool:
            return bool(books.entries("w"))

        await wait_until(running)
        for _ in range(3):
            await handle.signal(Script.nudge)
        other = await handle.execute_update(Script.ask_now, ask("write", "other"))
        assert [answer.status for answer in await handle.query(Script.answers)] == ["completed"]
        await handle.signal(Script.ask, ask("write", "signalled"))
        books.open_gate("w")
        envelopes = await finish(desk, task_queue)

    assert other.status == "completed"
    assert [envelope.status for envelope in envelopes] == ["completed"] * 3
    assert sorted(entry.label for entry in books.entries()) == ["other", "signalled", "w"]


async def test_g1_a_record_that_cannot_be_made_changes_no_envelope(
    desk: Client, task_queue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The local activity fails three times; the workflow has its envelope all the same."""

    async def broken(*_: object) -> NoReturn:
        raise OSError

    monkeypatch.setattr("temperance.activities.record.identify", broken)
    async with worker(desk, task_queue):
        plan = Plan(asks=(ask("unknown", "a"), ask("write", "b")))
        refused, done = await (await start(desk, task_queue, plan)).result()

    assert isinstance(refused, Failed)
    assert refused.code == "CAPABILITY_NOT_FOUND"
    assert done.status == "completed"
