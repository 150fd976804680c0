"""A question is bounded, stopped and given what a handler is given, in process (G5, G7, G10)."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from temperance.runtime.app import App
from temperance.runtime.context import Context
from temperance.runtime.envelope import Completed, ExecutionResult, Failed
from temperance.runtime.error import CapabilityError
from temperance.runtime.middleware import Proceed
from temperance.runtime.reconcile import (
    DidNotHappen,
    Happened,
    Reconcile,
    Unknown,
    did_not_happen,
    happened,
    unknown,
)
from temperance.runtime.retry import Retry
from temperance.runtime.runtime import Runtime
from temperance.runtime.sink import MemorySink
from tests.runtime.asking import Clock, ask, runtime_of
from tests.runtime.attempts import AT_ONCE, Slip, app_of, handles
from tests.runtime.orders import ALICE, Order

SECRET = "sk-planted-4711"
ONCE = Retry(max_retries=1, backoff=timedelta(seconds=2))


async def fails() -> None:
    raise ConnectionError(SECRET)


def app_asking(function: Callable[..., Any], sinks: list[MemorySink], **more: Any) -> App:
    """A write that raises, and the function that says what became of it."""
    reconcile = Reconcile(function, retry=ONCE, timeout=AT_ONCE * 10)
    return app_of(handles(fails), reconcile=reconcile, sinks=sinks, **more)


async def settled(
    function: Callable[..., Any], clock: Clock | None = None, **more: Any
) -> ExecutionResult[object]:
    """What the answers of a function make of a write that raised."""
    return await ask(runtime_of(app_asking(function, [], **more), clock))


async def test_g5_the_question_is_given_the_execution_of_the_write() -> None:
    """The same validated input, key, requester and application."""
    seen: list[Context[Any]] = []
    inputs: list[Order] = []

    async def handler(input: Order, ctx: Context[Any]) -> Slip:
        seen.append(ctx)
        inputs.append(input)
        raise ConnectionError

    async def find(input: Order, ctx: Context[Any]) -> Happened[Slip]:
        seen.append(ctx)
        inputs.append(input)
        return happened(Slip(number=ctx.idempotency_key))

    app = app_of(handler, reconcile=Reconcile(find))
    envelope = await ask(runtime_of(app))

    assert isinstance(envelope, Completed)
    write, question = seen
    assert envelope.output == Slip(number=write.idempotency_key)
    for of in ("execution_id", "actor", "surface", "attempt", "app"):
        assert getattr(write, of) == getattr(question, of), of
    assert write.business_key("o") == question.business_key("o")
    assert write.request.input_hash == question.request.input_hash
    assert inputs[0] == inputs[1]


async def test_g7_an_answer_that_comes_too_late_is_none() -> None:
    """Whatever the function makes of being told to stop."""

    async def deaf(input: Order) -> Happened[Slip]:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return happened(Slip())

    clock = Clock()
    envelope = await settled(deaf, clock)
    assert (envelope.effect, envelope.reconciled) == ("possible", "unknown")
    assert clock.delays == [2.0]


async def test_g7_a_plain_function_can_see_that_nobody_waits_any_more() -> None:
    """As a handler can: its thread cannot be stopped."""
    stopped = threading.Barrier(3, timeout=10)

    def find(input: Order, ctx: Context[Any]) -> Unknown:
        while not ctx.cancelled:
            time.sleep(0.001)
        stopped.wait()
        return unknown()

    envelope = await settled(find)
    assert envelope.reconciled == "unknown"
    await asyncio.to_thread(stopped.wait)  # both threads have come to their end


async def test_g7_a_caller_that_is_cancelled_ends_the_question_too() -> None:
    """The write keeps the end that it had."""
    asked = asyncio.Event()

    async def find(input: Order) -> Happened[Slip] | DidNotHappen:
        asked.set()
        await asyncio.Event().wait()
        return did_not_happen()

    sink = MemorySink()
    reconcile = Reconcile(find, timeout=timedelta(seconds=30))
    runtime = Runtime(app_of(handles(fails), reconcile=reconcile, sinks=[sink]))
    asking = asyncio.ensure_future(ask(runtime))
    await asked.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert [event.type.partition(".")[2] for event in sink.events] == [
        "requested",
        "started",
        "failed",
    ]


async def test_g2_middleware_does_not_take_the_question_for_an_execution() -> None:
    """What counts or books executions sees the write alone."""
    entered: list[str] = []

    async def around(ctx: Context[Any], proceed: Proceed) -> object:
        entered.append(ctx.execution_id)
        return await proceed()

    async def find(input: Order) -> Happened[Slip]:
        return happened(Slip())

    envelope = await settled(find, middleware=[around])
    assert (envelope.reconciled, len(entered)) == ("happened", 1)


def vetoes(error: CapabilityError) -> bool:
    """A predicate that wants no further attempt."""
    del error
    return False


@pytest.mark.parametrize(
    ("on", "asked"),
    [(None, 2), ((ConnectionError,), 2), ((ValueError,), 1), (vetoes, 1)],
)
async def test_g7_retry_on_says_which_failures_are_asked_about_again(on: Any, asked: int) -> None:
    times: list[int] = []

    async def find(input: Order) -> Happened[Slip] | Unknown:
        times.append(1)
        raise ConnectionError(SECRET)

    retry = Retry(max_retries=1, backoff=timedelta(0), on=on)
    app = app_of(handles(fails), reconcile=Reconcile(find, retry=retry))
    envelope = await ask(runtime_of(app))
    assert (envelope.reconciled, len(times)) == ("unknown", asked)


@pytest.mark.parametrize("error", [SystemExit(SECRET), ConnectionError(SECRET), StopIteration()])
async def test_g10_what_a_question_raises_is_told_to_nobody(error: BaseException) -> None:
    """Neither to the caller nor to the audit; and it ends neither process nor execution."""

    async def find(input: Order) -> Unknown:
        raise error

    sink = MemorySink()
    envelope = await ask(runtime_of(app_asking(find, [sink])))
    assert isinstance(envelope, Failed)
    assert envelope.reconciled == "unknown"
    assert SECRET not in repr(envelope)
    assert SECRET not in "".join(event.model_dump_json() for event in sink.events)
    last = sink.events[-1]
    assert (last.type, last.verdict, last.error_code) == (
        "capability.reconciled",
        "unknown",
        "EXECUTION_FAILED",
    )
    assert last.actor_id == ALICE.id
