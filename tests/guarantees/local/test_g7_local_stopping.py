"""A local read and whatever wants to stop it (G7, DESIGN section 8)."""

from datetime import timedelta

from temperance.embedded import EmbeddedServer
from tests.guarantees.local.playing import Stand, code_of, entries, scene
from tests.guarantees.local.workflows import Group, Plan, Reader
from tests.support.waiting import wait_until

TASK = timedelta(seconds=2)
"""A workflow task of two seconds asks for more after 1.6, and hears of a cancellation then."""


async def test_g7_a_cancelled_workflow_gets_the_envelope_of_its_local_read(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Not before its workflow task asks for more time; the attempt's own answer is waited for."""
    stand = await Stand.at(embedded, task_queue)
    ask = stand.ask("local.read", "case", "gate")
    async with stand.worker():
        handle = await stand.start(ask, hold=True, task_timeout=TASK)
        await scene(ask).until_started()
        await handle.cancel()
        (live,) = await stand.until(handle, 1)

        async def closed() -> bool:
            return "WORKFLOW_EXECUTION_CANCELED" in await stand.names(handle)

        await wait_until(closed)
    assert (live.status, code_of(live), live.effect) == ("cancelled", "CANCELLED", "possible")
    assert (live.attempts, live.errors) == (1, ())
    assert stand.trail(live) == [("requested", 1), ("started", 1), ("cancelled", 1)]
    assert scene(ask).notes == ["entered"]
    assert await stand.told_again(handle) == [live]
    await stand.replay(handle)


async def test_g7_a_local_read_that_is_cancelled_between_two_attempts_is_not_tried_again(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """It waits by a timer of the workflow's, so the cancellation arrives at once."""
    stand = await Stand.at(embedded, task_queue)
    ask = stand.ask("local.patient", "case", "fail")
    async with stand.worker():
        handle = await stand.start(ask, hold=True)

        async def waits() -> bool:
            return "TIMER_STARTED" in await stand.names(handle)

        await wait_until(waits)
        await handle.cancel()
        (live,) = await stand.until(handle, 1)
    assert (live.status, code_of(live), live.effect) == ("cancelled", "CANCELLED", "possible")
    assert (live.attempts, live.errors) == (1, ("EXECUTION_FAILED",))
    assert stand.trail(live) == [("requested", 1), ("started", 1), ("cancelled", 1)]
    assert len(entries(ask)) == 1
    assert await stand.told_again(handle) == [live]
    await stand.replay(handle)


async def test_g7_a_task_group_gives_up_a_local_read_beside_one_that_failed(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """In one workflow task. Nobody gets its envelope, as asyncio has it; its end is recorded."""
    stand = await Stand.at(embedded, task_queue)
    fails = stand.ask("local.once", "fails", "nap and fail")
    waits = stand.ask("local.once", "waits", "gate")
    async with stand.worker():
        handle = await stand.client.start_workflow(
            Group.run, args=[fails, waits], id=task_queue, task_queue=task_queue
        )
        (failed,) = await handle.result()
    assert code_of(failed) == "EXECUTION_FAILED"
    ((execution_id, _, _),) = entries(waits)
    assert stand.sink.types(execution_id) == [
        "capability.requested",
        "capability.started",
        "capability.cancelled",
    ]
    await stand.replay(stand.client.get_workflow_handle_for(Reader.run, task_queue))


async def test_g7_a_timeout_of_asyncio_around_a_local_read_is_noticed_when_it_has_ended(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """The workflow's own timer starts when its task ends, which waits for the read: a limit."""
    stand = await Stand.at(embedded, task_queue)
    asks = (stand.ask("local.once", "a", "nap"), stand.ask("local.once", "b"))
    async with stand.worker():
        handle = await stand.start(plan=Plan(asks=asks, seconds=0.01, hold=True))
        live = await stand.until(handle, 2)
    assert [envelope.status for envelope in live] == ["completed"] * 2
    await stand.replay(handle)


async def test_g7_what_is_asked_beside_a_local_read_begins_when_that_has_ended(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """It is sent with the end of the workflow task, which waits for the read: a limit."""
    stand = await Stand.at(embedded, task_queue)
    asks = (stand.ask("remote.once", "beside"), stand.ask("local.once", "a", "nap"))
    async with stand.worker():
        handle = await stand.start(plan=Plan(asks=asks, at_once=True))
        local, beside = await handle.result()
    ended = [
        event.execution_id
        for event in stand.sink.events
        if event.type in {"capability.requested", "capability.completed"}
    ]
    assert ended == [local.execution_id] * 2 + [beside.execution_id] * 2


async def test_g7_a_local_read_of_a_terminated_workflow_records_no_end(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """The worker gives it up when it hears of it, and nobody can be told how it ended."""
    stand = await Stand.at(embedded, task_queue)
    ask = stand.ask("local.read", "case", "tell")
    async with stand.worker():
        handle = await stand.start(ask, task_timeout=TASK)
        await scene(ask).until_started()
        await handle.terminate()
        await scene(ask).until_noted("told")
    assert [event.type for event in stand.sink.events] == [
        "capability.requested",
        "capability.started",
    ]
