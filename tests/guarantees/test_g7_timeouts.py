"""G7: each attempt is bounded, whatever in it takes too long, and a late output is never used."""

import asyncio
from datetime import timedelta

from temperance import ExecutionResult
from temperance.embedded import EmbeddedServer
from temperance.runtime.event import Event
from tests.guarantees.stopping.capabilities import How, Mark
from tests.guarantees.stopping.playing import Stand, code_of
from tests.guarantees.stopping.scenes import SCENES


async def answers(stand: Stand, *asked: tuple[str, How]) -> list[ExecutionResult[Mark]]:
    """Asks for all of them at once, each in a workflow of its own."""
    handles = [
        await stand.start(capability, stand.case(f"{capability}-{how}", how), manner="return")
        for capability, how in asked
    ]
    return [(await handle.result())[0] for handle in handles]


async def test_g7_a_write_that_takes_too_long_times_out_once(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Async, in a thread, or swallowing what it is told: TIMEOUT, possible, one attempt."""
    stand = await Stand.at(embedded, task_queue)
    asked: list[tuple[str, How]] = [
        ("stop.short_write", "wait"),
        ("stop.short_write", "swallow"),
        ("stop.short_write", "raise"),
        ("stop.short_write", "take back"),
        ("stop.short_write", "block"),
        ("stop.short_write_in_thread", "poll"),
    ]
    async with stand.worker():
        envelopes = await answers(stand, *asked)
    for (capability, how), envelope in zip(asked, envelopes, strict=True):
        assert (envelope.status, code_of(envelope)) == ("failed", "TIMEOUT"), how
        assert (envelope.effect, envelope.attempts, envelope.errors) == ("possible", 1, ())
        assert stand.trail(envelope) == ["requested", "started", "failed"]
        assert SCENES[f"{task_queue}-{capability}-{how}"].entries == 1
    thread = SCENES[f"{task_queue}-stop.short_write_in_thread-poll"]
    assert await asyncio.to_thread(thread.over.wait, 5)
    assert thread.notes == ["entered", "told"]


async def test_g7_a_read_that_takes_too_long_is_tried_again(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Three attempts that time out; then one that times out and one that does not."""
    stand = await Stand.at(embedded, task_queue)
    async with stand.worker():
        always = await stand.start("stop.short_read", stand.case("a", "wait"), manner="return")
        once = await stand.start(
            "stop.short_read", stand.case("b", "wait", "return"), manner="return"
        )
        (envelope,) = await always.result()
        assert (code_of(envelope), envelope.effect) == ("TIMEOUT", "possible")
        assert (envelope.attempts, envelope.errors) == (3, ("TIMEOUT", "TIMEOUT"))
        assert SCENES[always.id].notes == ["entered", "told"] * 3
        (envelope,) = await once.result()
        assert (envelope.status, envelope.attempts) == ("completed", 2)
        assert stand.trail(envelope) == ["requested", "started", "retried", "started", "completed"]


async def test_g7_what_surrounds_the_handler_is_bounded_with_it(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """A context that hangs where it is opened or closed, middleware before and after."""
    stand = await Stand.at(embedded, task_queue)
    asked: list[tuple[str, How]] = [
        ("stop.short_write", "hang in opening"),
        ("stop.short_write", "hang before"),
        ("stop.short_write", "hang after"),
        ("stop.short_write", "hang in closing"),
    ]
    async with stand.worker():
        envelopes = await answers(stand, *asked)
    assert [code_of(envelope) for envelope in envelopes] == ["TIMEOUT"] * 4
    assert [envelope.effect for envelope in envelopes] == ["none", "none", "possible", "possible"]
    entries = [SCENES[f"{task_queue}-stop.short_write-{how}"].entries for _, how in asked]
    assert entries == [0, 0, 1, 1]
    for envelope in envelopes:
        assert stand.trail(envelope) == ["requested", "started", "failed"]


async def test_g7_a_policy_that_takes_too_long_denies_and_nothing_was_entered(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    stand = await Stand.at(embedded, task_queue, policy_timeout=timedelta(milliseconds=100))
    async with stand.worker():
        (envelope,) = await answers(stand, ("stop.considered_write", "return"))
    assert (envelope.status, code_of(envelope), envelope.effect) == (
        "failed",
        "POLICY_FAILED",
        "none",
    )
    assert stand.trail(envelope) == ["requested", "denied"]


async def test_g7_a_policy_may_take_longer_than_the_handler_does(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """The server's own timeout leaves room for what the attempt waits for beside its handler."""
    stand = await Stand.at(embedded, task_queue)
    async with stand.worker():
        handle = await stand.start(
            "stop.considered_write", stand.case("a", "return"), manner="return"
        )
        scene = SCENES[handle.id]
        # Longer than the capability's timeout and the server's margin, less than policies may.
        asyncio.get_running_loop().call_later(1.6, scene.gate.set)
        (envelope,) = await handle.result()
    assert (envelope.status, envelope.effect) == ("completed", "done")
    assert scene.notes == ["considered", "entered", "returned"]


class Hanging:
    """A sink that never returns."""

    async def record(self, event: Event) -> None:
        """Waits for ever."""
        await asyncio.Event().wait()


async def test_g7_a_sink_that_hangs_takes_its_time_and_changes_no_outcome(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Three events of 700 milliseconds each, beside a handler that has 300 milliseconds."""
    stand = await Stand.at(
        embedded, task_queue, Hanging(), sink_timeout=timedelta(milliseconds=700)
    )
    async with stand.worker():
        (envelope,) = await answers(stand, ("stop.short_write", "return"))
    assert (envelope.status, envelope.effect) == ("completed", "done")
    assert stand.trail(envelope) == ["requested", "started", "completed"]


async def test_g7_a_request_that_no_worker_takes_in_time_has_no_effect(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    stand = await Stand.at(embedded, task_queue)
    async with stand.worker():
        handle = await stand.start(
            "stop.impatient_write", stand.case("a"), manner="return", queue=f"{task_queue}-nobody"
        )
        (envelope,) = await handle.result()
    assert (envelope.status, code_of(envelope), envelope.effect) == ("failed", "TIMEOUT", "none")
    assert stand.trail(envelope) == ["requested", "failed"]
    assert SCENES[handle.id].entries == 0
