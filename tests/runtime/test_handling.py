"""Stage 10: the deadline of an attempt, whatever its handler does about it (G7)."""

import asyncio
import threading
import time
from contextlib import suppress
from typing import Any

import pytest

from temperance.runtime import handling
from temperance.runtime.context import Context
from temperance.runtime.middleware import Proceed
from tests.runtime.attempts import (
    AT_ONCE,
    RETRIED,
    Slip,
    app_of,
    broken,
    for_ever,
    impatient,
    succeeds,
    waits,
)
from tests.runtime.orders import Order


async def test_g7_an_async_handler_that_outlasts_its_timeout_is_told_and_times_out() -> None:
    """TIMEOUT in stage handler, effect possible, the seconds named; the handler saw it coming."""
    seen: list[str] = []

    async def handler(order: Order, ctx: Context[None]) -> Slip:
        try:
            await for_ever()
        finally:
            seen.append(f"cancelled: {ctx.cancelled}")
        return Slip()

    outcome = await broken(app_of(handler, timeout=AT_ONCE))

    assert (outcome.error.code, outcome.error.stage) == ("TIMEOUT", "handler")
    assert outcome.error.details == {"timeout_seconds": 0.005}
    assert (outcome.effect, outcome.retries, outcome.interruption) == ("possible", False, None)
    assert seen == ["cancelled: True"]


async def test_g7_a_timeout_is_retried_only_where_the_capability_is_eligible() -> None:
    assert (await broken(app_of(waits, timeout=AT_ONCE, **RETRIED))).retries
    assert not (await broken(app_of(waits, timeout=AT_ONCE, side_effect="read"))).retries
    assert not (await broken(app_of(waits, timeout=AT_ONCE, **RETRIED), attempt=3)).retries


async def test_g7_a_threaded_handler_times_out_and_its_late_result_is_dropped() -> None:
    """The attempt ends at its deadline; the thread sees `ctx.cancelled` and ends on its own."""
    ended = threading.Event()

    def handler(order: Order, ctx: Context[None]) -> Slip:
        while not ctx.cancelled:
            time.sleep(0.001)
        ended.set()
        return Slip(number="too late")

    outcome = await broken(app_of(handler, timeout=AT_ONCE))

    assert (outcome.error.code, outcome.effect) == ("TIMEOUT", "possible")
    assert await asyncio.to_thread(ended.wait, 5)


@pytest.mark.parametrize("how", ["returns", "raises"])
async def test_g7_a_handler_that_swallows_its_timeout_times_out_all_the_same(how: str) -> None:
    async def handler(order: Order) -> Slip:
        try:
            await for_ever()
        except asyncio.CancelledError:
            if how == "raises":
                raise ValueError("instead") from None
        return Slip()

    outcome = await broken(app_of(handler, timeout=AT_ONCE))
    assert outcome.error.code == "TIMEOUT"
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_g7_a_handler_that_blocks_the_loop_past_its_deadline_is_late() -> None:
    """Nothing could be delivered while it blocked; its output is not used for all that."""

    async def handler(order: Order) -> Slip:
        time.sleep(0.01)  # noqa: ASYNC251 - the fault that is tested
        return Slip()

    assert (await broken(app_of(handler, timeout=AT_ONCE))).error.code == "TIMEOUT"


async def test_g7_a_handler_that_does_not_stop_is_told_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two cancellations are swallowed, the third ends it; none is left on the task."""
    monkeypatch.setattr(handling, "patience_after", impatient)
    told = 0

    async def handler(order: Order) -> Slip:
        nonlocal told
        while told < 3:
            try:
                await for_ever()
            except asyncio.CancelledError:
                told += 1
        return Slip()

    outcome = await broken(app_of(handler, timeout=AT_ONCE))
    assert (outcome.error.code, told) == ("TIMEOUT", 3)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_g7_middleware_is_bounded_with_the_handler() -> None:
    """One that hangs before `proceed` times out with effect none, one after it: possible."""

    async def before(ctx: Context[Any], proceed: Proceed) -> object:
        await for_ever()
        return await proceed()

    async def after(ctx: Context[Any], proceed: Proceed) -> object:
        output = await proceed()
        await for_ever()
        return output

    first = await broken(app_of(succeeds, middleware=[before], timeout=AT_ONCE, **RETRIED))
    assert (first.error.code, first.error.stage, first.effect) == ("TIMEOUT", "controls", "none")
    assert first.retries
    second = await broken(app_of(succeeds, middleware=[after], timeout=AT_ONCE))
    assert (second.error.code, second.error.stage, second.effect) == (
        "TIMEOUT",
        "handler",
        "possible",
    )


async def test_g7_middleware_that_swallows_a_timeout_does_not_enter_the_handler_after() -> None:
    async def stubborn(ctx: Context[Any], proceed: Proceed) -> object:
        with suppress(asyncio.CancelledError):
            await for_ever()
        return await proceed()

    async def never(order: Order) -> Slip:
        raise AssertionError

    outcome = await broken(app_of(never, middleware=[stubborn], timeout=AT_ONCE))
    assert (outcome.error.code, outcome.effect) == ("TIMEOUT", "none")
