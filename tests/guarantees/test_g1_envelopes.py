"""G1: an execution is finalized once: whatever comes late is refused, and the envelope stands."""

import signal

import pytest
from temporalio.service import RPCError, RPCStatusCode

from temperance.embedded import EmbeddedServer
from tests.conftest import StartWorker
from tests.guarantees.stopping.capabilities import How
from tests.guarantees.stopping.playing import Handle, Stand, code_of, envelopes_of, notes_of
from tests.guarantees.stopping.scenes import SCENES


async def activity_events(stand: Stand, handle: Handle) -> list[str]:
    """What closed the activities of a workflow."""
    closing = ("COMPLETED", "FAILED", "TIMED_OUT", "CANCELED")
    return [
        event
        for event in await stand.events(handle)
        if event.startswith("ACTIVITY_TASK") and event.endswith(closing)
    ]


async def test_g1_a_result_that_comes_after_the_envelope_is_refused(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """A thread goes on after its timeout and reports by itself, with the attempt's own token."""
    stand = await Stand.at(embedded, task_queue)
    async with stand.worker():
        handle = await stand.start(
            "stop.short_write_in_thread", stand.case("a", "poll"), manner="return"
        )
        (envelope,) = await handle.result()
        scene = SCENES[handle.id]
        late = stand.client.get_async_activity_handle(task_token=scene.token)
        with pytest.raises(RPCError) as refused:
            await late.complete("too late")
        assert refused.value.status == RPCStatusCode.NOT_FOUND
        assert (envelope.status, code_of(envelope)) == ("failed", "TIMEOUT")
        assert await envelopes_of(handle) == [envelope]
    assert await activity_events(stand, handle) == ["ACTIVITY_TASK_FAILED"]
    assert stand.trail(envelope) == ["requested", "started", "failed"]


async def test_g1_a_write_whose_worker_died_is_ended_by_the_server_and_recorded_once(
    embedded: EmbeddedServer, task_queue: str, worker_process: StartWorker
) -> None:
    """TIMEOUT, effect possible: only the workflow saw it, and has it recorded."""
    stand = await Stand.at(embedded, task_queue)
    elsewhere = f"{task_queue}-elsewhere"
    async with stand.worker():
        doomed = await worker_process(
            "tests.guarantees.stopping.worker", embedded.target_host, elsewhere
        )
        handle = await stand.start(
            "stop.short_write", stand.case("a", "gate"), manner="return", queue=elsewhere
        )
        await doomed.until_line("entered")
        doomed.kill()
        assert await doomed.wait() == -signal.SIGKILL
        (envelope,) = await handle.result()
    assert (envelope.status, code_of(envelope)) == ("failed", "TIMEOUT")
    assert (envelope.effect, envelope.attempts) == ("possible", 1)
    assert await activity_events(stand, handle) == ["ACTIVITY_TASK_TIMED_OUT"]
    # What the worker saw went to its own sinks, and ended with it.
    assert stand.trail(envelope) == ["failed"]


async def test_g1_a_cancelled_write_whose_worker_died_is_cancelled(
    embedded: EmbeddedServer, task_queue: str, worker_process: StartWorker
) -> None:
    """Nobody can say how far it came; the caller's cancellation is final all the same."""
    stand = await Stand.at(embedded, task_queue)
    elsewhere = f"{task_queue}-elsewhere"
    async with stand.worker():
        doomed = await worker_process(
            "tests.guarantees.stopping.worker", embedded.target_host, elsewhere
        )
        handle = await stand.start(
            "stop.short_write", stand.case("a", "gate"), manner="return", queue=elsewhere
        )
        await doomed.until_line("entered")
        doomed.kill()
        await doomed.wait()
        await handle.cancel()
        (envelope,) = await handle.result()
        assert await notes_of(handle) == ["cancelled"]
    assert (envelope.status, envelope.effect, envelope.attempts) == ("cancelled", "possible", 1)
    assert stand.trail(envelope) == ["cancelled"]


async def test_g1_executions_at_once_have_an_envelope_and_a_trail_each(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Thirty in one instant, of which every third fails and every third is tried twice."""
    stand = await Stand.at(embedded, task_queue)
    hows: list[tuple[How, ...]] = [("return",), ("fail",), ("fail", "return")] * 10
    cases = [stand.case(str(number), *how) for number, how in enumerate(hows)]
    async with stand.worker():
        handle = await stand.start("stop.read", *cases, manner="gather")
        envelopes = await handle.result()
    assert len(envelopes) == len({envelope.execution_id for envelope in envelopes}) == 30
    ends = sorted((envelope.status, envelope.attempts) for envelope in envelopes)
    assert ends == [("completed", 1)] * 10 + [("completed", 2)] * 10 + [("failed", 3)] * 10
    for envelope in envelopes:
        trail = stand.trail(envelope)
        assert trail[-1] == envelope.status
        assert len(trail) == 1 + 2 * envelope.attempts
