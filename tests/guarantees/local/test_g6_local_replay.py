"""What a replay, and the loss of a worker, do to a local read (G6, DESIGN section 12)."""

import asyncio
from collections import Counter
from datetime import timedelta
from pathlib import Path

from temperance import Event
from temperance.embedded import EmbeddedServer
from tests.conftest import StartWorker
from tests.guarantees.local.playing import Handle, Stand, entries, scene
from tests.guarantees.local.workflows import Reader
from tests.support.processes import WorkerProcess

MODULE = "tests.guarantees.local.worker"


async def test_g6_what_was_recorded_is_not_run_again_by_whoever_takes_over(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Queries, signals and a second worker replay it: no handler, no event, the same envelopes."""
    stand = await Stand.at(embedded, task_queue)
    asks = [
        stand.ask("local.read", "a", "fail", "return"),
        stand.ask("local.once", "b", "decline"),
        stand.ask("local.read", "c"),
    ]
    async with stand.worker():
        handle = await stand.start(*asks, hold=True)
        before = await stand.until(handle, 3)
    recorded = list(stand.sink.events)
    more = stand.ask("local.read", "more")
    async with stand.worker():
        for _ in range(3):
            assert await handle.query(Reader.so_far) == before
        assert stand.sink.events == recorded
        await handle.signal(Reader.more, more)
        after = await stand.until(handle, 4)
        await handle.signal(Reader.finish)
        await handle.result()
    assert after[:3] == before
    assert [len(entries(ask)) for ask in (*asks, more)] == [2, 1, 1, 1]
    await stand.replay(handle)


async def test_g6_a_local_read_whose_worker_is_killed_runs_again_as_the_same_attempt(
    embedded: EmbeddedServer, task_queue: str, worker_process: StartWorker, tmp_path: Path
) -> None:
    """All since the workflow task began is run again; what was tried before is still counted.

    Both workers record the same events, which say so by their ids: one execution, one attempt.
    """
    stand = await Stand.at(embedded, task_queue)
    asks = [
        stand.ask("local.read", "early", "fail", "return"),
        stand.ask("local.read", "beside"),
        stand.ask("local.read", "last", "gate"),
    ]
    audits = [tmp_path / "first.jsonl", tmp_path / "second.jsonl"]
    first = await worker_process(MODULE, embedded.target_host, task_queue, str(audits[0]))
    handle = await stand.start(*asks, task_timeout=timedelta(seconds=5))
    await first.until_line("entered last")
    first.kill()
    await first.wait()
    arguments = (embedded.target_host, task_queue, str(audits[1]), "open")
    second = await worker_process(MODULE, *arguments)
    envelopes = await handle.result()

    assert [(envelope.status, envelope.attempts) for envelope in envelopes] == [
        ("completed", 2),
        ("completed", 1),
        ("completed", 1),
    ]
    assert envelopes[0].errors == ("EXECUTION_FAILED",)
    assert entered(first) == ["early", "early", "beside", "last"]
    assert entered(second) == ["early", "beside", "last"]
    assert "WORKFLOW_TASK_TIMED_OUT" in await stand.names(handle)
    events = [event for audit in audits for event in read(audit)]
    twice = Counter(event.event_id for event in events if event.type == "capability.started")
    assert sorted(twice.values()) == [1, 2, 2, 2]
    ended = {event.event_id for event in events if event.type == "capability.completed"}
    assert len(ended) == 3
    await stand.replay(handle)


async def test_g6_a_worker_that_stops_lets_a_local_read_end_and_begins_no_other(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """However many are still to come: the SDK by itself would wait for them all."""
    stand = await Stand.at(embedded, task_queue)
    asks = [
        stand.ask("local.read", "first", "drain"),
        *(stand.ask("local.read", f"then-{number}") for number in range(3)),
    ]
    async with stand.worker():
        handle = await stand.start(*asks)
        await scene(asks[0]).until_started()
    assert [len(entries(ask)) for ask in asks] == [1, 0, 0, 0]
    async with stand.worker():
        envelopes = await handle.result()
    assert [(envelope.status, envelope.attempts) for envelope in envelopes] == [
        ("completed", 1)
    ] * 4
    assert [len(entries(ask)) for ask in asks] == [1, 1, 1, 1]
    assert [stand.trail(envelope) for envelope in envelopes] == [
        [("requested", 1), ("started", 1), ("completed", 1)]
    ] * 4
    await stand.replay(handle)


def entered(worker: WorkerProcess) -> list[str]:
    """Whose handlers a worker has entered, in their order."""
    lines = worker.output().splitlines()
    return [line.removeprefix("entered ") for line in lines if line.startswith("entered ")]


def read(audit: Path) -> list[Event]:
    """The events that a worker recorded."""
    return [Event.model_validate_json(line) for line in audit.read_text().splitlines()]


async def test_g6_a_run_that_is_queried_all_the_time_can_be_replayed(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """A query may have a workflow task answered between the end of a local read and its news.

    What the workflow decides then is written with the next task, and a replay would look for it in
    the one before. So the first execution of a capability runs as a normal one there.
    """
    stand = await Stand.at(embedded, task_queue)
    kinds = ("read", "once", "short", "short_once", "patient")
    async with stand.worker():
        for run in range(5):
            asks = [stand.ask(f"local.{kind}", f"{run}-{kind}") for kind in kinds]
            handle = await stand.start(*asks, *asks, id_=f"{task_queue}-{run}")
            queries = [asyncio.create_task(query(handle)) for _ in range(3)]
            envelopes = await handle.result()
            assert [envelope.status for envelope in envelopes] == ["completed"] * 10
            for answered in await asyncio.gather(*queries):
                assert answered
            await stand.replay(handle)


async def query(handle: Handle) -> int:
    """Asks a workflow how far it is until it has come to its end; how often that was."""
    count = 0
    while len(await handle.query(Reader.so_far)) < 10:
        count += 1
    return count + 1
