"""A live workflow that is replayed all the time runs no handler and emits no event twice (G6)."""

from collections import Counter

from temporalio.client import Client
from temporalio.worker import Replayer

from temperance import Event, TemperancePlugin
from temperance.embedded import EmbeddedServer
from tests.conftest import StartWorker
from tests.guarantees.runs.books import Books
from tests.guarantees.runs.capabilities import app_of
from tests.guarantees.runs.jobs import Plan
from tests.guarantees.runs.rewinding import answers, ask, finish, script, start, worker
from tests.guarantees.runs.tagged import Tagged
from tests.guarantees.runs.workflows import Script
from tests.support.history import event_names, history_events
from tests.support.waiting import wait_until

MODULE = "tests.guarantees.runs.worker"


class Tape:
    """A sink that keeps everything it is given, also what it was given before."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def record(self, event: Event) -> None:
        """Keep it."""
        self.events.append(event)


async def test_g6_a_workflow_that_no_cache_keeps_runs_each_handler_once_and_emits_each_event_once(
    embedded: EmbeddedServer, task_queue: str, books: Books
) -> None:
    """Each workflow task replays all that was before: writes, failures, retries, local records.

    A second worker takes over in the midst of it, and queries replay as well.
    """
    tape = Tape()
    client = await embedded.connect(plugins=[TemperancePlugin(app_of(books, [tape]))])
    asks = (
        *(ask("write", "w"), ask("write", "w"), ask("write", "f", "raise")),
        *(ask("read", "r", "raise"), ask("unknown", "u"), ask("approved_write", "a")),
        *(ask("write", "s", step="s"), ask("charge", "c"), ask("unexposed_write", "x")),
    )
    async with worker(client, task_queue, cached=0):
        handle = await start(client, task_queue, Plan(asks=asks, hold=True))
        before = await answers(client, task_queue, None, len(asks))
        for _ in range(5):
            assert await handle.query(Script.answers) == before
    async with worker(client, task_queue, cached=0):
        await handle.signal(Script.ask, ask("write", "signal"))
        await handle.execute_update(Script.ask_now, ask("write", "update"))
        await answers(client, task_queue, None, len(asks) + 2)
        for _ in range(5):
            await handle.signal(Script.nudge)
        after = await finish(client, task_queue)

    assert after[: len(asks)] == before
    entries = Counter((entry.execution_id, entry.attempt) for entry in books.entries())
    assert set(entries.values()) == {1}
    assert Counter(entry.label for entry in books.entries()) == {
        "w": 2,
        "f": 1,
        "r": 2,
        "s": 1,
        "c": 1,
        "signal": 1,
        "update": 1,
    }
    # What no worker saw is recorded by a local activity: that one is at least once (the limit of G6),
    # and sinks tell it by the event's id. Without any cache it does run again now and then.
    by_workflow = after[asks.index(ask("unknown", "u"))].execution_id
    emitted = Counter(event.event_id for event in tape.events if event.execution_id != by_workflow)
    assert set(emitted.values()) == {1}
    closing = {
        "capability.completed",
        "capability.failed",
        "capability.denied",
        "capability.approval_requested",
    }
    distinct = {event.event_id: event for event in tape.events}.values()
    closed = Counter(event.execution_id for event in distinct if event.type in closing)
    assert closed == Counter(envelope.execution_id for envelope in after)


async def test_g6_sets_of_strings_do_not_make_a_replay_in_another_process_drift(
    embedded: EmbeddedServer,
    desk: Client,
    task_queue: str,
    books: Books,
    worker_process: StartWorker,
) -> None:
    """Two workers hash strings differently, so they walk every set in different orders.

    The second one replays what the first one did: step ids are the same. So does a third process,
    this one, from the history.
    """
    arguments = (embedded.target_host, task_queue, str(books.folder))
    first = await worker_process(MODULE, *arguments, env={"PYTHONHASHSEED": "1"})
    handle = await desk.start_workflow(Tagged.run, id=task_queue, task_queue=task_queue)

    async def all_asked() -> bool:
        return await handle.query(Tagged.count) == 22

    await wait_until(all_asked)
    walked = await handle.query(Tagged.order)
    first.terminate()
    await first.wait()
    entries = books.entries()
    audit = books.audit_path.read_bytes()

    await worker_process(MODULE, *arguments, env={"PYTHONHASHSEED": "2"})
    assert await handle.query(Tagged.order) != walked
    await handle.signal(Tagged.finish)
    ends = await handle.result()

    assert ends[0::2].count("completed") == 2
    assert ends[1::2] == ["failed"] * 11
    assert books.entries() == entries
    assert books.audit_path.read_bytes() == audit
    assert "WORKFLOW_TASK_FAILED" not in event_names(await history_events(desk, task_queue))
    replayer = Replayer(workflows=[Tagged], plugins=[TemperancePlugin(app_of(books))])
    await replayer.replay_workflow(await handle.fetch_history())


async def test_g6_a_worker_that_takes_over_repeats_nothing_of_one_that_was_killed(
    embedded: EmbeddedServer,
    desk: Client,
    task_queue: str,
    books: Books,
    worker_process: StartWorker,
) -> None:
    """What had ended before the kill is not run again by whoever replays the workflow."""
    arguments = (embedded.target_host, task_queue, str(books.folder))
    first = await worker_process(MODULE, *arguments)
    plan = Plan(asks=(ask("write", "w"), ask("read", "r"), ask("unknown", "u")), hold=True)
    await start(desk, task_queue, plan)
    before = await answers(desk, task_queue, None, 3)
    first.kill()
    await first.wait()

    await worker_process(MODULE, *arguments)
    await script(desk, task_queue).signal(Script.ask, ask("write", "after"))
    after = await finish(desk, task_queue)

    assert after[:3] == before
    assert [entry.label for entry in books.entries()] == ["w", "r", "after"]
    lines = books.audit_path.read_text().splitlines()
    ids = Counter(Event.model_validate_json(line).event_id for line in lines)
    assert set(ids.values()) == {1}
