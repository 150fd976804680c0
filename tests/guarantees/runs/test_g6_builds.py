"""Builds that have and lack what a run asked for by id: a replay gives the same answer (G6)."""

from datetime import timedelta

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client
from temporalio.worker import Replayer

from temperance import Failed, TemperancePlugin
from temperance.embedded import EmbeddedServer
from tests.guarantees.runs.books import Books
from tests.guarantees.runs.capabilities import app_of
from tests.guarantees.runs.jobs import Plan
from tests.guarantees.runs.rewinding import answers, ask, finish, start, worker
from tests.guarantees.runs.workflows import Script
from tests.support.history import event_names, history_events
from tests.support.waiting import wait_until


async def test_g6_a_run_that_was_refused_an_unknown_id_goes_on_where_a_later_build_has_it(
    embedded: EmbeddedServer, desk: Client, task_queue: str, books: Books
) -> None:
    """The refusal is in history, and the new worker replays it; a new request is served."""
    older = await embedded.connect(plugins=[TemperancePlugin(app_of(books, without="runs.write"))])
    handle = await start(desk, task_queue, Plan(asks=(ask("write", "w"),), hold=True))
    async with worker(older, task_queue, cached=0):
        (refused,) = await answers(desk, task_queue, None, 1)
    assert isinstance(refused, Failed)
    assert refused.code == "CAPABILITY_NOT_FOUND"
    async with worker(desk, task_queue, cached=0):
        await handle.signal(Script.ask, ask("write", "again"))
        before, after = await answers(desk, task_queue, None, 2)
        ends = await finish(desk, task_queue)

    assert [before, after] == ends
    assert before == refused
    assert after.status == "completed"
    assert [entry.label for entry in books.entries()] == ["again"]
    replayer = Replayer(workflows=[Script], plugins=[TemperancePlugin(app_of(books))])
    await replayer.replay_workflow(await handle.fetch_history())
    names = event_names(await history_events(desk, task_queue))
    assert "WORKFLOW_TASK_FAILED" not in names
    assert names.count("MARKER_RECORDED") == 2  # the mark, and the record of the refusal


async def test_g6_a_worker_that_lacks_what_a_run_asked_for_leaves_it_to_one_that_has_it(
    embedded: EmbeddedServer, desk: Client, task_queue: str, books: Books
) -> None:
    """It cannot replay the request, fails the workflow task, and changes nothing."""
    older = await embedded.connect(plugins=[TemperancePlugin(app_of(books, without="runs.write"))])
    handle = await start(desk, task_queue, Plan(asks=(ask("write", "w"),), hold=True))
    async with worker(desk, task_queue, cached=0):
        (done,) = await answers(desk, task_queue, None, 1)

    async def failed_task() -> bool:
        events = await history_events(desk, task_queue)
        return any(e.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED for e in events)

    async with worker(older, task_queue, cached=0):
        await handle.signal(Script.finish)
        await wait_until(failed_task)
    async with worker(desk, task_queue, cached=0):
        assert await handle.result(rpc_timeout=timedelta(seconds=60)) == [done]
    assert len(books.entries("w")) == 1
