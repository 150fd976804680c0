"""A local read comes to the envelope that a normal one comes to, and to the same after a replay."""

import dataclasses
from collections.abc import Mapping

import pytest

from temperance.embedded import EmbeddedServer
from tests.guarantees.local.capabilities import How, Rule
from tests.guarantees.local.playing import Stand, code_of, entries, scene
from tests.guarantees.local.workflows import Found

Story = tuple[str, tuple[How, ...], Rule]

STORIES: dict[str, Story] = {
    "returns": ("read", ("return",), "none"),
    "fails once": ("read", ("fail", "return"), "none"),
    "fails at last": ("read", ("fail",), "none"),
    "fails, and is not tried again": ("once", ("fail",), "none"),
    "says no": ("read", ("decline",), "none"),
    "says not yet": ("read", ("later", "fail", "return"), "none"),
    "takes too long": ("short", ("hang",), "none"),
    "takes too long once": ("short", ("hang", "return"), "none"),
    "takes too long, and is not tried again": ("short_once", ("hang",), "none"),
    "gives what is no answer": ("read", ("odd",), "none"),
    "is denied": ("read", ("return",), "deny"),
    "is hidden": ("read", ("return",), "hide"),
}


def same(envelope: Found) -> Mapping[str, object]:
    """What must be equal: all but the names."""
    told = dataclasses.replace(envelope, execution_id="", capability="", repeat_of=None)
    return told.to_dict()


async def test_g1_a_local_read_comes_to_the_same_envelope_and_trail_as_a_normal_one(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Every way in which an execution ends; live, and rebuilt from history by another worker."""
    stand = await Stand.at(embedded, task_queue)
    asks = [
        stand.ask(f"{where}.{capability}", "case", *how, rule=rule, note=f"{story} {where}")
        for story, (capability, how, rule) in STORIES.items()
        for where in ("local", "remote")
    ]
    async with stand.worker():
        handle = await stand.start(*asks, hold=True)
        live = await stand.until(handle, len(asks))
    rebuilt = await stand.told_again(handle)

    assert rebuilt == live
    for story, local, remote in zip(STORIES, live[::2], live[1::2], strict=True):
        assert same(local) == same(remote), story
        assert stand.trail(local) == stand.trail(remote), story
    await stand.replay(handle)


async def test_g1_a_local_read_that_ends_leaves_one_event(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Beside it two for the first one in a run, which say that it is local; no task of its own."""
    stand = await Stand.at(embedded, task_queue)
    asks = [stand.ask("local.read", "case", note=str(number)) for number in range(5)]
    async with stand.worker():
        handle = await stand.start(*asks)
        await handle.result()
    assert await stand.names(handle) == [
        "WORKFLOW_EXECUTION_STARTED",
        "WORKFLOW_TASK_SCHEDULED",
        "WORKFLOW_TASK_STARTED",
        "WORKFLOW_TASK_COMPLETED",
        "MARKER_RECORDED",
        "UPSERT_WORKFLOW_SEARCH_ATTRIBUTES",
        *["MARKER_RECORDED"] * 5,
        "WORKFLOW_EXECUTION_COMPLETED",
    ]


# The SDK warns where a handler that blocked the loop has ended before it can be told to.
@pytest.mark.filterwarnings("ignore:Cannot find activity to cancel")
@pytest.mark.parametrize("how", ["block", "swallow"])
async def test_g7_a_local_read_that_cannot_be_stopped_times_out_and_its_output_is_dropped(
    embedded: EmbeddedServer, task_queue: str, how: How
) -> None:
    """The SDK gives up waiting, and tells that otherwise in history than it did live."""
    stand = await Stand.at(embedded, task_queue)
    ask = stand.ask("local.short_once", "case", how)
    async with stand.worker():
        handle = await stand.start(ask, hold=True)
        (live,) = await stand.until(handle, 1)
        scene(ask).gate.set()
        await scene(ask).until_noted("returned")
    rebuilt = await stand.told_again(handle)

    assert (live.status, code_of(live), live.effect) == ("failed", "TIMEOUT", "possible")
    assert (live.attempts, live.errors) == (1, ())
    assert rebuilt == [live]
    assert stand.trail(live) == [("requested", 1), ("started", 1), ("failed", 1)]
    await stand.replay(handle)


async def test_g7_a_local_read_that_cannot_be_stopped_is_tried_again(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Its first attempt still hangs while the second one answers."""
    stand = await Stand.at(embedded, task_queue)
    ask = stand.ask("local.short", "case", "swallow", "return")
    async with stand.worker():
        handle = await stand.start(ask, hold=True)
        (live,) = await stand.until(handle, 1)
        scene(ask).gate.set()
    assert (live.status, live.attempts, live.errors) == ("completed", 2, ("TIMEOUT",))
    assert [attempt for _, _, attempt in entries(ask)] == [1, 2]
    assert (await stand.told_again(handle)) == [live]
    assert stand.trail(live) == [
        ("requested", 1),
        ("started", 1),
        ("retried", 2),
        ("started", 2),
        ("completed", 2),
    ]


async def test_g10_an_output_that_a_local_read_cannot_carry_is_refused_and_not_tried_again(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """64 KiB, where a normal read carries two megabytes; an input travels as far as with those."""
    stand = await Stand.at(embedded, task_queue)
    most = 64 * 1024 - 1_000
    asks = [
        stand.ask("local.read", "fits", size=most),
        stand.ask("local.read", "does not", size=64 * 1024),
        stand.ask("remote.read", "does there", size=64 * 1024),
        stand.ask("local.read", "large input", padding=1_500_000),
        stand.ask("local.read", "too large input", padding=2_200_000),
    ]
    async with stand.worker():
        handle = await stand.start(*asks)
        fits, refused, there, large, too_large = await handle.result()
    assert (fits.status, there.status) == ("completed", "completed")
    assert (code_of(refused), refused.effect, refused.attempts) == ("PAYLOAD_TOO_LARGE", "done", 1)
    assert len(entries(asks[1])) == 1
    assert large.status == "completed"
    assert (code_of(too_large), too_large.effect) == ("PAYLOAD_TOO_LARGE", "none")
    assert entries(asks[4]) == []


async def test_g1_what_a_local_read_is_asked_of_must_be_there(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """A worker that lacks it says so, by the means of a normal one, and the workflow goes on."""
    stand = await Stand.at(embedded, task_queue)
    async with stand.worker():
        handle = await stand.start(stand.ask("local.unknown", "case"), hold=True)
        (envelope,) = await stand.until(handle, 1)
    assert (code_of(envelope), envelope.effect) == ("CAPABILITY_NOT_FOUND", "none")
    assert (await stand.told_again(handle)) == [envelope]
