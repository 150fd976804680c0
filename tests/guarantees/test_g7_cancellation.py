"""G7: a cancellation is final, reaches the handler, and loses nothing that is known."""

import asyncio
from datetime import timedelta
from typing import Any

from temporalio import activity
from temporalio.worker import (
    ActivityInboundInterceptor,
    ActivityOutboundInterceptor,
    Interceptor,
)

from temperance.embedded import EmbeddedServer
from tests.guarantees.stopping.capabilities import How
from tests.guarantees.stopping.playing import (
    Stand,
    code_of,
    end_of,
    envelopes_of,
    notes_of,
    only_envelope,
)
from tests.guarantees.stopping.scenes import SCENES

CASES: list[tuple[str, How]] = [
    ("stop.write", "wait"),
    ("stop.write", "swallow"),
    ("stop.write", "raise"),
    ("stop.write", "take back"),
    ("stop.read", "wait"),
    ("stop.read", "swallow"),
    ("stop.read", "raise"),
    ("stop.read", "take back"),
    ("stop.write_in_thread", "poll"),
    ("stop.read_in_thread", "poll"),
]


async def test_g7_a_cancelled_handler_ends_as_cancelled_whatever_it_does(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Async or in a thread, a write or a read with retries left: told, final, no new attempt."""
    stand = await Stand.at(embedded, task_queue)
    async with stand.worker():
        handles = [
            await stand.start(capability, stand.case(f"{capability}-{how}", how))
            for capability, how in CASES
        ]
        for handle in handles:
            await SCENES[handle.id].until_started()
            await handle.cancel()
        for handle in handles:
            assert await end_of(handle) == "CANCELED"
            envelope = await only_envelope(handle)
            assert (envelope.status, code_of(envelope)) == ("cancelled", "CANCELLED")
            assert (envelope.effect, envelope.attempts, envelope.errors) == ("possible", 1, ())
            assert stand.trail(envelope) == ["requested", "started", "cancelled"]
            assert await notes_of(handle) == ["cancelled", "waits", "cancelled"]
            scene = SCENES[handle.id]
            if "thread" in handle.id:
                assert await asyncio.to_thread(scene.over.wait, 5)
            assert (scene.entries, "told" in scene.notes) == (1, True)


class Beats(Interceptor):
    """Notes every heartbeat in the scene of its workflow."""

    def intercept_activity(
        self,
        next: ActivityInboundInterceptor,  # noqa: A002 - the SDK's own word
    ) -> ActivityInboundInterceptor:
        class Inbound(ActivityInboundInterceptor):
            def init(self, outbound: ActivityOutboundInterceptor) -> None:
                super().init(Outbound(outbound))

        class Outbound(ActivityOutboundInterceptor):
            def heartbeat(self, *details: Any) -> None:
                SCENES[activity.info().workflow_id or ""].notes.append("beat")
                super().heartbeat(*details)

        return Inbound(next)


async def test_g7_a_cancellation_arrives_with_the_next_heartbeat(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Counted, not timed: with the SDK's own throttle eight or more would go by in silence."""
    stand = await Stand.at(embedded, task_queue)
    async with stand.worker(interceptors=[Beats()]):
        handle = await stand.start("stop.write", stand.case("beats", "wait"))
        scene = SCENES[handle.id]
        # The first heartbeat is sent at once; how soon another one may follow is what matters.
        await scene.until_noted("beat")
        await handle.cancel()
        scene.notes.append("asked")
        assert await end_of(handle) == "CANCELED"

    between = scene.notes[scene.notes.index("asked") + 1 : scene.notes.index("told")]
    assert 1 <= between.count("beat") <= 2
    assert scene.notes.count("told") == 1


async def test_g7_a_cancelled_workflow_that_returns_at_once_completes_with_the_envelope(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """There was no further await at which to tell it; unwrapping tells it."""
    stand = await Stand.at(embedded, task_queue)
    async with stand.worker():
        returns = await stand.start("stop.write", stand.case("a", "wait"), manner="return")
        unwraps = await stand.start("stop.write", stand.case("b", "wait"), manner="unwrap")
        for handle in (returns, unwraps):
            await SCENES[handle.id].until_started()
            await handle.cancel()
        assert await end_of(returns) == "COMPLETED"
        (envelope,) = await returns.result()
        assert (envelope.status, envelope.effect) == ("cancelled", "possible")
        assert await end_of(unwraps) == "CANCELED"


async def test_g7_a_cancellation_is_told_once_however_often_it_is_asked_for(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    stand = await Stand.at(embedded, task_queue)
    async with stand.worker():
        handle = await stand.start("stop.read", stand.case("twice", "wait"))
        await SCENES[handle.id].until_started()
        await handle.cancel()
        await stand.until_event(handle, "ACTIVITY_TASK_CANCEL_REQUESTED")
        await handle.cancel()
        assert await end_of(handle) == "CANCELED"
        envelope = await only_envelope(handle)
        assert stand.trail(envelope) == ["requested", "started", "cancelled"]
        assert SCENES[handle.id].notes == ["entered", "told"]
        assert await notes_of(handle) == ["cancelled", "waits", "cancelled"]


async def test_g7_executions_at_once_are_all_cancelled_and_keep_their_envelopes(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """With gather and with a task group: three attempts told, three envelopes, one cancellation."""
    stand = await Stand.at(embedded, task_queue)
    async with stand.worker():
        handles = [
            await stand.start(
                "stop.write",
                *(stand.case(f"{manner}-{number}", "wait") for number in range(3)),
                manner=manner,
            )
            for manner in ("gather", "group")
        ]
        for handle in handles:
            for number in range(3):
                await SCENES[handle.id[:-1] + str(number)].until_started()
            await handle.cancel()
        for handle in handles:
            assert await end_of(handle) == "CANCELED"
            envelopes = await envelopes_of(handle)
            assert [envelope.status for envelope in envelopes] == ["cancelled"] * 3
            assert len({envelope.execution_id for envelope in envelopes}) == 3
            for envelope in envelopes:
                assert stand.trail(envelope) == ["requested", "started", "cancelled"]
            # The tasks ended with their envelopes: they were not cancelled at the last moment.
            assert (await notes_of(handle))[3:] == ["task ended"] * 3 + ["cancelled"]


async def test_g7_a_loop_that_only_asks_neither_spins_nor_swallows_the_cancellation(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Also a loop whose every request is refused in workflow code, with nothing scheduled."""
    stand = await Stand.at(embedded, task_queue)
    async with stand.worker():
        waiting = await stand.start("stop.read", stand.case("a", "wait"), manner="agent")
        working = await stand.start("stop.read", stand.case("b", "return"), manner="agent")
        # Its whole loop is one workflow task, which the server hears of when most of it is over.
        refused = await stand.start(
            "stop.nothing", stand.case("c"), manner="agent", task_timeout=timedelta(seconds=1)
        )
        for handle in (waiting, working):
            await SCENES[handle.id].until_started()
        await stand.until_event(refused, "MARKER_RECORDED")
        for handle in (waiting, working, refused):
            await handle.cancel()
        for handle in (waiting, working, refused):
            assert await end_of(handle) == "CANCELED"
            for envelope in await envelopes_of(handle):
                trail = stand.trail(envelope)
                assert trail[0] == "requested"
                assert trail[-1] in {"completed", "cancelled", "denied"}
        assert len(await envelopes_of(waiting)) == 1
        assert SCENES[waiting.id].entries == 1
        asked = len(await envelopes_of(working))
        assert SCENES[working.id].entries <= asked
