"""G7: cancellations of the workflow's own making, and those that come while it records."""

from datetime import timedelta

import pytest

from temperance.embedded import EmbeddedServer
from temperance.runtime.event import Event
from tests.guarantees.stopping.playing import (
    Handle,
    Stand,
    code_of,
    end_of,
    envelopes_of,
    notes_of,
    only_envelope,
)
from tests.guarantees.stopping.scenes import SCENES, Scene
from tests.support.history import event_names
from tests.support.waiting import wait_until


async def until_noted(handle: Handle, note: str) -> None:
    """Waits until the workflow has noted this."""

    async def noted() -> bool:
        return note in await notes_of(handle)

    await wait_until(noted)


class Slow:
    """A sink that takes its time for terminal events of the workflow."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    async def record(self, event: Event) -> None:
        """Waits for the gate, where a local activity records."""
        if event.type == "capability.failed":
            self.scene.started.set()
            await self.scene.gate.wait()


@pytest.mark.parametrize("means", ["workflow", "task"])
async def test_g7_a_cancellation_while_an_outcome_is_recorded_is_not_lost(
    embedded: EmbeddedServer, task_queue: str, means: str
) -> None:
    """Nobody took the request, and that is being recorded: the record is made, then it is told."""
    scene = Scene()
    stand = await Stand.at(embedded, task_queue, Slow(scene), sink_timeout=timedelta(seconds=20))
    async with stand.worker():
        handle = await stand.start(
            "stop.impatient_write",
            stand.case("a"),
            manner="then wait" if means == "workflow" else "task",
            queue=f"{task_queue}-nobody",
            task_timeout=timedelta(seconds=1),
        )
        await scene.until_started()
        if means == "workflow":
            await handle.cancel()
        else:
            await handle.signal("cancel_task", 1)
        asked = {
            "workflow": "WORKFLOW_EXECUTION_CANCEL_REQUESTED",
            "task": "WORKFLOW_EXECUTION_SIGNALED",
        }[means]

        async def seen() -> bool:
            # Workflow tasks go on while it records; the one after the event tells the workflow.
            events = event_names([event async for event in handle.fetch_history_events()])
            return asked in events and "WORKFLOW_TASK_STARTED" in events[events.index(asked) :]

        await wait_until(seen)
        scene.gate.set()
        if means == "workflow":
            assert await end_of(handle) == "CANCELED"
            envelope = await only_envelope(handle)
            assert (envelope.status, envelope.effect, code_of(envelope)) == (
                "failed",
                "none",
                "TIMEOUT",
            )
            assert stand.trail(envelope) == ["requested", "failed"]
            assert await notes_of(handle) == ["failed", "waits", "cancelled"]
        else:
            assert await end_of(handle) == "COMPLETED"
            assert await notes_of(handle) == ["task cancelled"]
            assert [event.type for event in stand.sink.events] == [
                "capability.requested",
                "capability.failed",
            ]


async def test_g7_a_timeout_of_the_workflows_own_cancels_the_execution_and_nothing_else(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """`asyncio.timeout` gets its exception once the execution has ended; the workflow goes on."""
    stand = await Stand.at(embedded, task_queue)
    async with stand.worker():
        handle = await stand.start(
            "stop.write", stand.case("a", "wait"), stand.case("b"), manner="timeout"
        )
        (envelope,) = await handle.result()
        assert (envelope.status, envelope.effect) == ("completed", "done")
        assert await notes_of(handle) == ["timed out", "completed"]
        first = SCENES[handle.id]
        assert first.notes == ["entered", "told"]
        ends = [event.type for event in stand.sink.events if event.type.endswith("ed")]
        assert ends.count("capability.cancelled") == 1


async def test_g7_the_clean_up_of_a_cancelled_workflow_may_set_timeouts_too(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """After the workflow's cancellation was told, another one is the task's own again."""
    stand = await Stand.at(embedded, task_queue)
    async with stand.worker():
        cases = (stand.case("a", "wait"), stand.case("b", "wait"), stand.case("c"))
        handle = await stand.start("stop.write", *cases, manner="clean up")
        await SCENES[handle.id].until_started()
        await handle.cancel()
        assert await end_of(handle) == "CANCELED"
        envelopes = await envelopes_of(handle)
        assert [envelope.status for envelope in envelopes] == ["cancelled", "completed"]
        assert await notes_of(handle) == [
            "cancelled",
            "waits",
            "timed out",
            "completed",
            "cancelled",
        ]


async def test_g7_a_task_that_is_cancelled_again_and_again_still_sees_its_execution_end(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """They come while the first one is handed on: the activity is not left alone."""
    stand = await Stand.at(embedded, task_queue)
    async with stand.worker():
        handle = await stand.start("stop.write", stand.case("a", "wait"), manner="task")
        scene = SCENES[handle.id]
        await scene.until_started()
        await handle.signal("cancel_task", 3)
        await until_noted(handle, "task cancelled")
        assert scene.notes == ["entered", "told"]
        assert await end_of(handle) == "COMPLETED"


async def test_g7_a_workflow_that_leaves_its_worker_while_it_waits_leaves_nothing_behind(
    embedded: EmbeddedServer, task_queue: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Eviction cancels every task of a run: none of them may hold on. Another worker goes on."""
    stand = await Stand.at(embedded, task_queue)
    elsewhere = f"{task_queue}-elsewhere"
    async with stand.worker(elsewhere, activities_only=True):
        async with stand.worker():
            handles = [
                await stand.start(
                    "stop.write",
                    *(stand.case(f"{manner}-{number}", "gate") for number in range(2)),
                    manner=manner,
                    queue=elsewhere,
                )
                for manner in ("return", "gather", "group")
            ]
            for handle in handles:
                await SCENES[handle.id].until_started()
        assert [record for record in caplog.records if record.levelname == "ERROR"] == []
        for handle in handles:
            for number in range(2):
                SCENES[handle.id[:-1] + str(number)].gate.set()
        async with stand.worker():
            for handle in handles:
                envelopes = await handle.result()
                assert [envelope.status for envelope in envelopes] == ["completed"] * 2
