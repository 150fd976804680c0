"""A capability whose placement changes while workflows are under way (decision 0018).

What a run did first, it does to its end: the patch marker in its history says which.
"""

from typing import Any

import pytest
from temporalio import workflow
from temporalio.worker import Replayer, Worker

from temperance import Capability, TemperancePlugin
from temperance.embedded import EmbeddedServer
from temperance.runtime.names import Placement, SideEffect
from tests.guarantees.local.capabilities import THRICE, app_of, made
from tests.guarantees.local.inside import Inside, echo
from tests.guarantees.local.playing import Stand, code_of, entries
from tests.guarantees.local.workflows import Reader
from tests.support.history import event_names, history_events

Served = list[Capability[Any, Any]]


def build(placement: Placement, side_effect: SideEffect = "read") -> Served:
    """One build of the application."""
    return [made("moved.read", placement, retry=THRICE, side_effect=side_effect)]


@pytest.mark.parametrize(("before", "after"), [("remote", "local"), ("local", "remote")])
async def test_a_run_goes_on_as_it_began_and_the_next_one_as_the_metadata_says(
    embedded: EmbeddedServer, task_queue: str, before: Placement, after: Placement
) -> None:
    """Under way while the build changes: replayed by the new one, asked again, and replayed."""
    old = await Stand.at(embedded, task_queue, build(before))
    first = old.ask("moved.read", "first", "fail", "return")
    async with old.worker():
        handle = await old.start(first, hold=True)
        told = await old.until(handle, 1)
    new = await Stand.at(embedded, task_queue, build(after))
    await new.replay(handle)

    more = new.ask("moved.read", "more")
    async with new.worker():
        await handle.signal(Reader.more, more)
        both = await new.until(handle, 2)
        later = new.ask("moved.read", "later")
        fresh = await new.start(later, id_=f"{task_queue}-fresh")
        await fresh.result()
        await handle.signal(Reader.finish)
        assert await handle.result() == both
    assert both[0] == told[0]
    assert [len(entries(ask)) for ask in (first, more, later)] == [2, 1, 1]

    expected = {"remote": (0, 2), "local": (3, 0)}  # the first one was tried twice
    assert await of(new, handle) == expected[before]
    assert await of(new, fresh) == {"remote": (0, 1), "local": (1, 0)}[after]
    for build_of in (old, new):
        await build_of.replay(handle)
        await build_of.replay(fresh)


async def of(stand: Stand, handle: Any) -> tuple[int, int]:  # a handle of any workflow
    """How many local and how many normal activities a history has."""
    local = len(await stand.steps(handle))
    return local, (await stand.names(handle)).count("ACTIVITY_TASK_SCHEDULED")


async def test_g2_what_has_become_a_write_is_refused_by_a_run_that_has_it_local(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """It cannot run there, and the run cannot know better; a run that begins now runs it."""
    old = await Stand.at(embedded, task_queue, build("local"))
    first = old.ask("moved.read", "first")
    async with old.worker():
        handle = await old.start(first, hold=True)
        await old.until(handle, 1)
    changed: Served = [made("moved.read", "remote", side_effect="write")]
    new = await Stand.at(embedded, task_queue, changed)
    asks = [new.ask("moved.read", name) for name in ("refused", "fresh")]
    async with new.worker():
        await handle.signal(Reader.more, asks[0])
        _, refused = await new.until(handle, 2)
        (ran,) = await (await new.start(asks[1], id_=f"{task_queue}-fresh")).result()
    assert (code_of(refused), refused.effect) == ("RETRY_FORBIDDEN", "possible")
    assert (ran.status, [len(entries(ask)) for ask in asks]) == ("completed", [0, 1])


async def test_without_the_marker_the_same_change_would_drift(
    embedded: EmbeddedServer, task_queue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the tests above rest on: the replayer finds out where the run is not asked."""
    old = await Stand.at(embedded, task_queue, build("remote"))
    async with old.worker():
        handle = await old.start(old.ask("moved.read", "case"))
        await handle.result()

    def always(*_: object) -> bool:
        return True

    monkeypatch.setattr("temperance.workflows.invoker.is_local", always)
    replayer = Replayer(
        workflows=[Reader], plugins=[TemperancePlugin(app_of(served=build("local")))]
    )
    with pytest.raises(workflow.NondeterminismError):
        await replayer.replay_workflow(await handle.fetch_history())


async def test_a_local_read_runs_as_a_normal_one_where_a_task_queue_is_named(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Also where that is the workflow's own, whose name a replayer does not know."""
    stand = await Stand.at(embedded, task_queue)
    elsewhere = f"{task_queue}-elsewhere"
    asks = [
        stand.ask("local.read", "there", queue=elsewhere),
        stand.ask("local.read", "here", queue=task_queue),
        stand.ask("local.read", "unsaid"),
    ]
    async with stand.worker(), stand.worker(elsewhere):
        handle = await stand.start(*asks)
        envelopes = await handle.result()
    assert [envelope.status for envelope in envelopes] == ["completed"] * 3
    assert await of(stand, handle) == (1, 2)
    await stand.replay(handle)


async def test_a_capability_in_the_module_of_its_workflow_is_placed_by_its_id(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """The one that the workflow asks for is not the one in the registry."""
    client = await embedded.connect(plugins=[TemperancePlugin(app_of(served=[echo]))])
    async with Worker(client, task_queue=task_queue, workflows=[Inside]):
        handle = await client.start_workflow(Inside.run, id=task_queue, task_queue=task_queue)
        assert await handle.result() == "there"
    names = event_names(await history_events(client, task_queue))
    assert (names.count("MARKER_RECORDED"), "ACTIVITY_TASK_SCHEDULED" in names) == (2, False)
