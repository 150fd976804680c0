"""`Runtime.invoke`: the same attempt code in process, and the retry loop around it."""

import asyncio
import gc
import json
from datetime import timedelta

import pytest

from temperance.runtime.capability import Approval
from temperance.runtime.envelope import (
    ApprovalRequired,
    Cancelled,
    Completed,
    Failed,
)
from temperance.runtime.error import CapabilityError, DeclaredError
from temperance.runtime.identity import idempotency_key
from temperance.runtime.retry import Retry
from temperance.runtime.runtime import Runtime
from tests.runtime.asking import ORDER, Clock, ask, failing, runtime_of
from tests.runtime.attempts import (
    AT_ONCE,
    Recorder,
    Slip,
    app_of,
    succeeds,
    waits,
)
from tests.runtime.orders import ALICE, Order


@pytest.mark.parametrize(
    "input",
    [
        ORDER,
        {"order_id": "o-1"},
        b'{"order_id": "o-1"}',
        '{"order_id": "o-1"}',
        json.dumps({"order_id": "o-1", "amount": 1}),
    ],
)
async def test_an_input_is_a_model_a_mapping_or_json(input: object) -> None:
    """By id, text is JSON, as models give it."""
    envelope = await ask(runtime_of(app_of(succeeds)), input)
    assert isinstance(envelope, Completed)
    assert (envelope.unwrap(), envelope.effect) == (Slip(number="o-1"), "done")
    assert (envelope.attempts, envelope.errors) == (1, ())


async def test_by_capability_text_is_a_value_and_not_json() -> None:
    app = app_of(succeeds)
    (entry,) = app.governance.registry
    envelope = await Runtime(app).invoke(entry, '{"order_id": "o-1"}', actor=ALICE, surface="agent")
    assert isinstance(envelope, Failed)
    assert envelope.code == "INPUT_INVALID"


@pytest.mark.parametrize("input", ["{", b"\xff", '"\ud800"', object(), {1: 2}, None])
async def test_g8_whatever_is_no_input_is_refused_in_an_envelope(input: object) -> None:
    envelope = await ask(runtime_of(app_of(succeeds)), input)
    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.effect) == ("INPUT_INVALID", "none")


async def test_a_request_id_is_the_execution_id() -> None:
    """Given, it is used as it is; otherwise each request has a random one."""
    sink = Recorder()
    runtime = runtime_of(app_of(succeeds, sinks=[sink]))
    envelope = await ask(runtime, request_id="r-1", correlation_id="c-1")
    assert envelope.execution_id == "r-1"
    assert envelope.idempotency_key == idempotency_key("r-1")
    assert {event.correlation_id for event in sink.events} == {"c-1"}
    first, second = await ask(runtime), await ask(runtime)
    assert first.execution_id != second.execution_id


@pytest.mark.parametrize("what", ["request_id", "correlation_id"])
async def test_a_malformed_id_is_the_callers_mistake(what: str) -> None:
    runtime = runtime_of(app_of(succeeds))
    for value in ("", " ", "x" * 1000, "a\nb"):
        with pytest.raises(ValueError, match=what):
            await ask(runtime, **{what: value})


async def test_g4_a_read_is_tried_again_with_growing_delays_as_one_execution() -> None:
    """The delays are the plan's; the envelope names what ended each attempt before the last."""
    sink, clock = Recorder(), Clock()
    app = app_of(
        failing(2, ConnectionError), sinks=[sink], side_effect="read", retry=Retry(max_retries=3)
    )
    envelope = await ask(runtime_of(app, clock))

    assert isinstance(envelope, Completed)
    assert (envelope.attempts, envelope.errors) == (3, ("EXECUTION_FAILED",) * 2)
    assert clock.delays == [0.25, 0.5]
    assert sink.types() == [
        "capability.requested",
        "capability.started",
        "capability.retried",
        "capability.started",
        "capability.retried",
        "capability.started",
        "capability.completed",
    ]
    assert {event.execution_id for event in sink.events} == {envelope.execution_id}
    assert sink.last.attempts == 3


async def test_g2_attempts_end_where_the_metadata_says() -> None:
    clock = Clock()
    app = app_of(failing(9, ConnectionError), side_effect="read", retry=Retry(max_retries=2))
    envelope = await ask(runtime_of(app, clock))
    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.attempts, envelope.effect) == (
        "EXECUTION_FAILED",
        3,
        "possible",
    )
    assert len(clock.delays) == 2
    write = await ask(runtime_of(app_of(failing(9, ConnectionError)), clock))
    assert (write.attempts, len(clock.delays)) == (1, 2)


async def test_a_delay_that_the_handler_asks_for_takes_the_place_of_the_plans() -> None:
    """Zero is no delay that a handler may ask for: the plan's stands."""
    clock = Clock()

    def busy() -> BaseException:
        return DeclaredError("Busy.", retry_after=timedelta(seconds=7))

    app = app_of(failing(1, busy), side_effect="read", retry=Retry(max_retries=1))
    assert isinstance(await ask(runtime_of(app, clock)), Completed)
    assert clock.delays == [7.0]


async def test_a_backoff_of_zero_does_not_sleep() -> None:
    clock = Clock()
    retry = Retry(max_retries=2, backoff=timedelta(0))
    app = app_of(failing(2, ConnectionError), side_effect="read", retry=retry)
    assert isinstance(await ask(runtime_of(app, clock)), Completed)
    assert clock.delays == []


async def test_g7_a_timeout_is_tried_again_where_that_is_safe() -> None:
    app = app_of(waits, timeout=AT_ONCE, side_effect="read", retry=Retry(max_retries=1))
    envelope = await ask(runtime_of(app))
    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.errors) == ("TIMEOUT", ("TIMEOUT",))


async def test_what_needs_an_approval_says_so_and_runs_nothing() -> None:
    envelope = await ask(runtime_of(app_of(waits, approval=Approval(reason="It costs."))))
    assert isinstance(envelope, ApprovalRequired)
    assert (envelope.reasons, envelope.effect) == (("It costs.",), "none")
    with pytest.raises(CapabilityError, match="APPROVAL_REQUIRED"):
        envelope.unwrap()


async def test_a_request_leaves_nothing_to_the_garbage_collector() -> None:
    """What its parts know of each other ends with it, so that its memory is used again at once."""
    runtime = runtime_of(app_of(succeeds))
    await ask(runtime)
    gc.collect()
    gc.disable()
    try:
        for _ in range(10):
            assert isinstance(await ask(runtime), Completed)
        assert gc.collect() == 0
    finally:
        gc.enable()


async def test_requests_at_once_do_not_share_anything() -> None:
    """Each has its own context, deadline and cancellation."""
    runtime = runtime_of(app_of(succeeds))
    envelopes = await asyncio.gather(*(ask(runtime, Order(order_id=f"o-{i}")) for i in range(50)))
    assert [envelope.unwrap() for envelope in envelopes] == [
        Slip(number=f"o-{i}") for i in range(50)
    ]
    assert not any(isinstance(envelope, Cancelled) for envelope in envelopes)
