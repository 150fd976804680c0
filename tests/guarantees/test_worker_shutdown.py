"""A worker that shuts down lets what runs finish; what cannot is told apart (DESIGN section 8)."""

import asyncio
from datetime import timedelta

import pytest

from temperance.embedded import EmbeddedServer
from tests.guarantees.stopping.capabilities import How
from tests.guarantees.stopping.playing import Stand, code_of
from tests.guarantees.stopping.scenes import SCENES

PATIENT = timedelta(seconds=20)


async def test_g7_an_attempt_that_ends_within_the_grace_period_is_completed(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """The handler sees that the worker shuts down, and returns when it is done."""
    stand = await Stand.at(embedded, task_queue)
    elsewhere = f"{task_queue}-elsewhere"
    async with stand.worker():
        async with stand.worker(elsewhere, activities_only=True, grace=PATIENT):
            handle = await stand.start(
                "stop.write", stand.case("a", "until shutdown"), manner="return", queue=elsewhere
            )
            await SCENES[handle.id].until_started()
        (envelope,) = await handle.result()
    assert (envelope.status, envelope.effect) == ("completed", "done")
    assert SCENES[handle.id].notes == ["entered", "shutdown", "returned"]
    assert stand.trail(envelope) == ["requested", "started", "completed"]


@pytest.mark.parametrize(
    ("capability", "how"),
    [
        ("stop.write", "wait"),
        ("stop.write", "swallow"),
        ("stop.write_in_thread", "poll"),
    ],
)
async def test_g2_a_write_that_outlasts_the_grace_period_is_not_repeated(
    embedded: EmbeddedServer, task_queue: str, capability: str, how: How
) -> None:
    """Its effect is possible, its output dropped, and the next worker leaves it alone."""
    stand = await Stand.at(embedded, task_queue)
    elsewhere = f"{task_queue}-elsewhere"
    async with stand.worker():
        async with stand.worker(elsewhere, activities_only=True):
            handle = await stand.start(
                capability, stand.case("a", how), manner="return", queue=elsewhere
            )
            await SCENES[handle.id].until_started()
        async with stand.worker(elsewhere, activities_only=True):
            (envelope,) = await handle.result()
    assert (envelope.status, code_of(envelope)) == ("failed", "EXECUTION_FAILED")
    assert (envelope.effect, envelope.attempts, envelope.errors) == ("possible", 1, ())
    assert stand.trail(envelope) == ["requested", "started", "failed"]
    scene = SCENES[handle.id]
    if how == "poll":
        assert await asyncio.to_thread(scene.over.wait, 5)
    assert (scene.entries, "told" in scene.notes) == (1, True)


@pytest.mark.parametrize("how", ["wait", "swallow", "raise"])
async def test_g4_a_read_that_outlasts_the_grace_period_is_tried_again_by_another_worker(
    embedded: EmbeddedServer, task_queue: str, how: How
) -> None:
    """One execution, two attempts, and the record says what ended the first."""
    stand = await Stand.at(embedded, task_queue)
    elsewhere = f"{task_queue}-elsewhere"
    async with stand.worker():
        async with stand.worker(elsewhere, activities_only=True):
            handle = await stand.start(
                "stop.read", stand.case("a", how, "return"), manner="return", queue=elsewhere
            )
            await SCENES[handle.id].until_started()
        async with stand.worker(elsewhere, activities_only=True):
            (envelope,) = await handle.result()
    assert (envelope.status, envelope.effect) == ("completed", "done")
    assert (envelope.attempts, envelope.errors) == (2, ("WorkerShutdown",))
    assert stand.trail(envelope) == ["requested", "started", "retried", "started", "completed"]
    (retried,) = [event for event in stand.sink.events if event.type == "capability.retried"]
    assert (retried.previous_error, retried.attempt) == ("WorkerShutdown", 2)


async def test_g8_a_write_whose_worker_shuts_down_before_it_is_admitted_has_no_effect(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """It was still being considered by a policy: it is not repeated, and nothing has happened."""
    stand = await Stand.at(embedded, task_queue)
    elsewhere = f"{task_queue}-elsewhere"
    async with stand.worker():
        async with stand.worker(elsewhere, activities_only=True):
            handle = await stand.start(
                "stop.considered_write", stand.case("a"), manner="return", queue=elsewhere
            )
            await SCENES[handle.id].until_noted("considered")
        (envelope,) = await handle.result()
    assert (envelope.status, code_of(envelope)) == ("failed", "EXECUTION_FAILED")
    assert (envelope.effect, SCENES[handle.id].entries) == ("none", 0)
    assert stand.trail(envelope) == ["requested", "failed"]
