"""G7: whenever the cancellation comes, the envelope says what is known, and the record agrees."""

import pytest

from temperance.embedded import EmbeddedServer
from tests.guarantees.stopping.playing import (
    Stand,
    code_of,
    end_of,
    envelopes_of,
    notes_of,
    only_envelope,
)
from tests.guarantees.stopping.scenes import SCENES
from tests.support.waiting import wait_until


async def test_g7_cancelled_before_its_first_task(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """What a workflow asks for that is already cancelled is never sent, and it is told so."""
    stand = await Stand.at(embedded, task_queue)
    handle = await stand.start("stop.write", stand.case("a"))
    await handle.cancel()
    async with stand.worker():
        assert await end_of(handle) == "CANCELED"
        assert await envelopes_of(handle) == []
        assert "ACTIVITY_TASK_SCHEDULED" not in await stand.events(handle)
    assert [(event.type, event.effect) for event in stand.sink.events] == [
        ("capability.requested", None),
        ("capability.cancelled", "none"),
    ]


@pytest.mark.parametrize("capability", ["stop.write", "stop.read"])
async def test_g7_cancelled_before_anything_was_sent(
    embedded: EmbeddedServer, task_queue: str, capability: str
) -> None:
    """Asked for and cancelled in one workflow task: no activity is in history, effect none."""
    stand = await Stand.at(embedded, task_queue)
    async with stand.worker():
        handle = await stand.start(capability, stand.case("a"), manner="at once")
        assert await end_of(handle) == "COMPLETED"
        assert await notes_of(handle) == ["task cancelled"]
        assert "ACTIVITY_TASK_SCHEDULED" not in await stand.events(handle)
    assert [(event.type, event.effect) for event in stand.sink.events] == [
        ("capability.requested", None),
        ("capability.cancelled", "none"),
    ]


async def test_g7_cancelled_while_queued(embedded: EmbeddedServer, task_queue: str) -> None:
    """Nobody takes the request. Of a read with retries only the server knows that none began."""
    stand = await Stand.at(embedded, task_queue)
    nobody = f"{task_queue}-nobody"
    async with stand.worker():
        write = await stand.start("stop.write", stand.case("a"), queue=nobody)
        read = await stand.start("stop.read", stand.case("b"), queue=nobody)
        for handle in (write, read):
            await stand.until_event(handle, "ACTIVITY_TASK_SCHEDULED")
            await handle.cancel()
        for handle in (write, read):
            assert await end_of(handle) == "CANCELED"
            envelope = await only_envelope(handle)
            assert (envelope.status, code_of(envelope)) == ("cancelled", "CANCELLED")
            assert stand.trail(envelope) == ["requested", "cancelled"]
        assert ((await only_envelope(write)).effect, (await only_envelope(write)).attempts) == (
            "none",
            0,
        )
        assert (await only_envelope(read)).effect == "possible"


async def test_g7_cancelled_between_two_attempts(embedded: EmbeddedServer, task_queue: str) -> None:
    """The second attempt, due in an hour, never comes; the first one's effect stays possible."""
    stand = await Stand.at(embedded, task_queue)
    async with stand.worker():
        handle = await stand.start("stop.patient_read", stand.case("a", "fail"))

        async def waits() -> bool:
            described = await handle.describe()
            return any(
                pending.attempt == 2 for pending in described.raw_description.pending_activities
            )

        await wait_until(waits)
        await handle.cancel()
        assert await end_of(handle) == "CANCELED"
        envelope = await only_envelope(handle)
        assert (envelope.status, envelope.effect, envelope.attempts) == ("cancelled", "possible", 1)
        assert stand.trail(envelope) == ["requested", "started", "cancelled"]
        assert SCENES[handle.id].entries == 1


async def test_g7_an_attempt_that_fails_after_the_cancellation_was_asked_for_is_not_retried(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """It expected a next attempt and left the last word to it: the workflow has it recorded."""
    stand = await Stand.at(embedded, task_queue)
    async with stand.worker():
        handle = await stand.start("stop.read", stand.case("a", "gate then fail"))
        scene = SCENES[handle.id]
        await scene.until_started()
        await handle.cancel()
        await stand.until_event(handle, "ACTIVITY_TASK_CANCEL_REQUESTED")
        scene.gate.set()
        assert await end_of(handle) == "CANCELED"
        envelope = await only_envelope(handle)
        assert (envelope.status, envelope.effect, envelope.attempts) == ("cancelled", "possible", 1)
        assert envelope.errors == ("EXECUTION_FAILED",)
        assert stand.trail(envelope) == ["requested", "started", "cancelled"]
        assert scene.entries == 1


@pytest.mark.parametrize("order", [("result", "cancel"), ("cancel", "result")])
async def test_g7_a_result_and_a_cancellation_in_one_workflow_task(
    embedded: EmbeddedServer, task_queue: str, order: tuple[str, str]
) -> None:
    """In both orders the result counts, and the cancellation is told at the next await."""
    stand = await Stand.at(embedded, task_queue)
    elsewhere = f"{task_queue}-elsewhere"
    async with stand.worker(elsewhere, activities_only=True):
        async with stand.worker():
            handle = await stand.start("stop.write", stand.case("a", "gate"), queue=elsewhere)
            scene = SCENES[handle.id]
            await scene.until_started()
        # Nobody runs the workflow now: what comes waits for one workflow task.
        for what in order:
            if what == "result":
                scene.gate.set()
                await stand.until_event(handle, "ACTIVITY_TASK_COMPLETED")
            else:
                await handle.cancel()
        events = await stand.events(handle)
        place = {
            "result": events.index("ACTIVITY_TASK_COMPLETED"),
            "cancel": events.index("WORKFLOW_EXECUTION_CANCEL_REQUESTED"),
        }
        assert sorted(place, key=lambda what: place[what]) == list(order)
        async with stand.worker():
            assert await end_of(handle) == "CANCELED"
            envelope = await only_envelope(handle)
            assert (envelope.status, envelope.effect) == ("completed", "done")
            assert await notes_of(handle) == ["completed", "waits", "cancelled"]
            assert stand.trail(envelope) == ["requested", "started", "completed"]
        assert "ACTIVITY_TASK_CANCEL_REQUESTED" not in await stand.events(handle)


async def test_g7_a_handler_that_finishes_while_its_cancellation_is_on_the_way_is_completed(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """The server has the request to cancel; the handler returns before a heartbeat brings it."""
    stand = await Stand.at(embedded, task_queue)
    async with stand.worker():
        handle = await stand.start("stop.write", stand.case("a", "gate"))
        scene = SCENES[handle.id]
        await scene.until_started()
        await handle.cancel()
        await stand.until_event(handle, "ACTIVITY_TASK_CANCEL_REQUESTED")
        scene.gate.set()
        assert await end_of(handle) == "CANCELED"
        envelope = await only_envelope(handle)
        assert (envelope.status, envelope.effect) == ("completed", "done")
        assert stand.trail(envelope) == ["requested", "started", "completed"]
        assert await notes_of(handle) == ["completed", "waits", "cancelled"]
