"""What fuzzing has found, each in its smallest form."""

import asyncio
import gc
import json
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from temperance import (
    App,
    CapabilityError,
    Context,
    Decision,
    DeclaredError,
    Event,
    Failed,
    Governance,
    MemorySink,
    Policy,
    Redact,
    Runtime,
    deny,
    require_approval,
)
from temperance.runtime.middleware import Proceed
from tests.fuzz.judging import ADA, Door, invoke, judge
from tests.fuzz.orders import Order, Slip, asked, one, opened, retried
from tests.fuzz.secret import SECRET
from tests.fuzz.test_inputs import asked as asked_for
from tests.fuzz.test_inputs import shown


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

    def rule(_: object) -> Decision:
        raise GeneratorExit(SECRET)

    door = Door()
    seen = await asked(door, one(opened(door)), [Policy(rule)])
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


class Price(BaseModel):
    """Which of the two a text is, pydantic decides otherwise in JSON than in Python."""

    amount: float | Decimal


class Strict(BaseModel):
    """Takes text for a date from JSON only."""

    model_config = ConfigDict(strict=True)

    on: date
    pair: tuple[int, int]


@pytest.mark.parametrize(
    ("type_", "value"),
    [(Price, {"amount": "1.10"}), (Strict, {"on": "2026-05-03", "pair": [1, 2]})],
)
async def test_g8_a_value_is_the_same_input_in_process_and_on_temporal(
    type_: type[BaseModel], value: object
) -> None:
    """It had another hash in process, or was refused there and taken on a worker."""
    here, there = await asked_for(type_, value), await asked_for(type_, json.dumps(value).encode())
    assert here is not None
    assert there is not None
    assert here[0].envelope.status == "completed"
    assert shown(here[0]) == shown(there[0])


async def test_g5_a_further_attempt_gets_the_input_as_it_was_given() -> None:
    """And not as the attempt before left it; nor does the caller's own value change."""
    given: dict[str, Any] = {"note": {"tags": ["a"]}}
    sink, met = MemorySink(), []

    async def handler(input: Order) -> Slip:
        met.append(json.dumps(input.note))
        input.note["tags"].append("b")
        raise ConnectionError

    app = App(Governance([one(handler, **retried("read"))]), sinks=[sink])
    await invoke(app, sink, "fuzz.one", given)
    assert met == ['{"tags": ["a"]}'] * 3
    assert given == {"note": {"tags": ["a"]}}


@pytest.mark.parametrize("error", [SystemExit, GeneratorExit, BaseException])
async def test_g9_a_discovery_policy_that_would_end_the_process_withholds(
    error: type[BaseException],
) -> None:
    """It ended the event loop, and an invocation told a hidden capability from an unknown one."""

    def rule(_: object) -> Decision:
        raise error(SECRET)

    door, sink = Door(), MemorySink()
    app = App(Governance([one(opened(door))], [Policy(rule, "discovery")]), sinks=[sink])
    listed = await Runtime(app).describe(actor=ADA, surface="agent")
    assert (listed.listed, listed.withheld) == (0, 1)
    seen = await invoke(app, sink, "fuzz.one", {})
    assert isinstance(seen.envelope, Failed)
    assert seen.envelope.code == "CAPABILITY_NOT_FOUND"


async def test_g2_a_filter_of_retries_that_would_end_the_process_vetoes() -> None:
    """The end of the execution was not recorded."""
    door = Door()

    async def handler(input: Order) -> Slip:
        door.entered += 1
        raise ConnectionError

    def asks(_: object) -> bool:
        raise SystemExit(SECRET)

    seen = await asked(door, one(handler, **retried("write", asks)))
    assert (seen.envelope.attempts, seen.envelope.effect) == (1, "possible")


@pytest.mark.parametrize("error", [SystemExit, GeneratorExit])
async def test_g7_a_handler_that_exits_inside_of_a_task_ends_no_event_loop(
    error: type[BaseException],
) -> None:
    """Middleware may bound the handler by `asyncio.wait_for`, which makes a task in Python 3.11."""
    door, sink = Door(), MemorySink()

    async def handler(input: Order) -> Slip:
        door.entered += 1
        raise error(SECRET)

    async def in_time(ctx: Context[Any], proceed: Proceed) -> object:
        return await asyncio.ensure_future(proceed())

    app = App(Governance([one(handler)], middleware=[in_time]), sinks=[sink])
    seen = await invoke(app, sink, "fuzz.one", {})
    judge(seen, door)
    assert any("RuntimeError at" in line and "test_minimised" in line for line in seen.lines)


class Halved(DeclaredError):
    """Its reason is half a character."""

    reason = "\udfff"


@pytest.mark.parametrize(
    "error", [Halved("No."), DeclaredError("\ud800"), Halved("\ud800" * 3_000)]
)
async def test_g4_an_error_that_is_told_in_half_characters_is_told_all_the_same(
    error: Exception,
) -> None:
    """No sink could write its event, and no server its failure."""
    door = Door()

    async def handler(input: Order) -> Slip:
        door.entered += 1
        raise error

    seen = await asked(door, one(handler))
    assert isinstance(seen.envelope, Failed)
    assert seen.envelope.error.message in {"No.", "?", "?" * 2_000}
    assert seen.envelope.error.reason in {"?", "DECLARED"}


def nested(depth: int) -> object:
    """Lists in lists."""
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("depth", [184, 185, 199])
async def test_an_output_that_only_just_can_be_read_is_none(depth: int) -> None:
    """Inside of an answer of several attempts, or of an envelope, it could not be read again."""
    door = Door()

    async def handler(input: Order) -> Any:
        door.entered += 1
        door.returned += 1
        return nested(depth)

    seen = await asked(door, one(handler, redact=Redact()))
    assert seen.envelope.effect == "done"
    assert seen.envelope.status == ("completed" if depth == 184 else "failed")


@pytest.mark.parametrize("depth", [183, 184, 198])
async def test_g3_an_input_that_approvers_could_not_be_shown_is_refused(depth: int) -> None:
    """On Temporal the answer that asks for an approval could not be read: effect done, it said."""
    door = Door()
    entry = one(opened(door), redact=Redact())
    policies = [Policy(lambda _: require_approval("Why not."))]
    seen = await asked(door, entry, policies, {"note": nested(depth)})
    if depth == 183:
        assert seen.envelope.status == "approval_required"
    else:
        assert isinstance(seen.envelope, Failed)
        assert seen.envelope.code == "APPROVAL_UNSERIALIZABLE_INPUT"


@pytest.mark.parametrize(
    "details",
    [nested(185), 10**5_000, {"a": float("nan"), "b": object()}],
    ids=["deep", "long", "object"],
)
def test_g10_details_that_could_not_be_read_are_omitted(details: Any) -> None:
    """The workflow that is told of the error has to read them."""
    assert CapabilityError("FORBIDDEN", details=details).public().details == {"omitted": "not JSON"}


def test_an_error_without_a_message_has_that_of_its_code() -> None:
    """The SDK gives a failure without one a message of its own, so that doors told it apart."""
    assert CapabilityError("POLICY_DENIED", "").public().message == "A policy denied the request."


async def test_g10_an_earlier_error_that_is_concealed_is_concealed_in_the_envelope_too() -> None:
    """In process the envelope named its true code."""
    door = Door()

    async def handler(input: Order) -> Slip:
        door.entered += 1
        if door.entered == 1:
            raise CapabilityError("FORBIDDEN", expose=False, retryable=True)
        door.returned += 1
        return Slip()

    seen = await asked(door, one(handler, **retried("read")))
    assert seen.envelope.errors == ("EXECUTION_FAILED",)
