"""What fuzzing has found, each in its smallest form."""

import asyncio
import gc
from collections.abc import Callable

import pytest

from temperance import (
    App,
    Decision,
    Event,
    Failed,
    Governance,
    MemorySink,
    Policy,
    Runtime,
    deny,
    require_approval,
)
from tests.fuzz.judging import ADA, Door, invoke, judge
from tests.fuzz.secret import SECRET
from tests.fuzz.test_faults import Order, Slip, asked, one, opened


class Leaving:
    """A sink that raises what only Python is expected to raise."""

    def record(self, event: Event) -> None:
        raise GeneratorExit(SECRET)


async def test_g10_a_generator_exit_that_a_handler_raises_is_an_error_like_any_other() -> None:
    """It went through the runtime, and the SDK wrote its text into history."""
    door = Door()

    async def handler(input: Order) -> Slip:
        door.entered += 1
        raise GeneratorExit(SECRET)

    seen = await asked(door, one(handler))
    assert (seen.envelope.status, seen.envelope.effect) == ("failed", "possible")


async def test_g8_a_generator_exit_that_a_policy_raises_ends_in_an_envelope() -> None:
    """And the handler is not entered."""

    def rule(_: object) -> None:
        raise GeneratorExit(SECRET)

    door = Door()
    seen = await asked(door, one(opened(door)), [Policy(rule)])  # type: ignore[arg-type] - never answers
    assert (seen.envelope.status, door.entered) == ("failed", 0)


async def test_a_generator_exit_that_a_sink_raises_changes_no_outcome() -> None:
    """The other sinks have the whole trail."""
    door, sink = Door(), MemorySink()
    app = App(Governance([one(opened(door))]), sinks=[Leaving(), sink])
    judge(await invoke(app, sink, "fuzz.one", {}), door)


@pytest.mark.filterwarnings("error")
async def test_an_attempt_whose_coroutine_is_closed_ends_without_a_word() -> None:
    """As when an event loop is given up: awaiting a sink then would be an error of its own."""
    sink = MemorySink()

    async def handler(input: Order) -> Slip:
        await asyncio.Event().wait()
        return Slip()

    app = App(Governance([one(handler)]), sinks=[sink])
    pending = Runtime(app).invoke("fuzz.one", {}, actor=ADA, surface="agent")
    loop = asyncio.new_event_loop()
    task = loop.create_task(pending)
    running = asyncio.get_running_loop()
    await running.run_in_executor(None, loop.run_until_complete, asyncio.wait({task}, timeout=0.01))
    pending.close()
    assert sink.types() == ["capability.requested", "capability.started"]
    task.cancel()
    loop.close()
    gc.collect()


@pytest.mark.parametrize(
    "answer",
    [
        lambda: deny("\ud800", ""),
        lambda: deny("NO", "\ud800"),
        lambda: require_approval("\ud800"),
        lambda: require_approval("Why not.", type="\ud800"),
    ],
)
async def test_g8_a_policy_that_answers_in_half_a_character_denies(
    answer: Callable[[], Decision],
) -> None:
    """No sink could record it, and no error could tell it: the runtime itself failed."""
    door = Door()
    seen = await asked(door, one(opened(door)), [Policy(lambda _: answer())])
    assert isinstance(seen.envelope, Failed)
    assert (seen.envelope.code, door.entered) == ("POLICY_FAILED", 0)
