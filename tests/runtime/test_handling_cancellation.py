"""Stage 10: the cancellation of an attempt, and the instant in which its handler ends (G7)."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from temperance.runtime.call import Broke, Outcome, Returned
from temperance.runtime.context import Context
from tests.runtime.attempts import (
    RETRIED,
    Slip,
    app_of,
    attempt,
    broken,
    for_ever,
    handles,
    succeeds,
    waits,
)
from tests.runtime.orders import Order


async def cancelled_in(
    handler: Callable[..., object], started: asyncio.Event, **metadata: Any
) -> Broke:
    """Cancels an attempt once its handler says that it started."""
    task = asyncio.ensure_future(broken(app_of(handler, **metadata)))
    await started.wait()
    task.cancel()
    return await task


@pytest.mark.parametrize("how", ["lets it through", "returns", "raises", "takes it back"])
async def test_g7_a_cancelled_handler_is_cancelled_whatever_it_does_about_it(how: str) -> None:
    """CANCELLED, effect possible, never retried, also for a read that has retries left."""
    started = asyncio.Event()

    async def handler(order: Order) -> Slip:
        try:
            started.set()
            await for_ever()
        except asyncio.CancelledError:
            if how == "lets it through":
                raise
            if how == "raises":
                raise ConnectionError("instead") from None
            if how == "takes it back":
                task = asyncio.current_task()
                assert task is not None
                task.uncancel()
        return Slip()

    app = app_of(handler, **RETRIED)
    told = False
    task = asyncio.ensure_future(broken(app, interrupted=lambda: told))
    await started.wait()
    told = True
    task.cancel()
    outcome = await task

    assert (outcome.error.code, outcome.interruption) == ("CANCELLED", "cancelled")
    assert (outcome.effect, outcome.retries) == ("possible", False)


async def test_g7_a_cancelled_thread_is_left_to_itself_and_can_see_it() -> None:
    started = asyncio.Event()
    ended = threading.Event()
    loop = asyncio.get_running_loop()

    def handler(order: Order, ctx: Context[None]) -> Slip:
        loop.call_soon_threadsafe(started.set)
        while not ctx.cancelled:
            time.sleep(0.001)
        ended.set()
        return Slip()

    outcome = await cancelled_in(handler, started, **RETRIED)
    assert (outcome.error.code, outcome.effect, outcome.retries) == ("CANCELLED", "possible", False)
    assert await asyncio.to_thread(ended.wait, 5)


async def test_g7_a_handler_that_waits_for_its_thread_sees_the_cancellation_at_once() -> None:
    """`ctx.cancelled` is true while the handler still cleans up: else it would wait in vain."""
    started = asyncio.Event()

    async def handler(order: Order, ctx: Context[None]) -> Slip:
        def poll() -> None:
            while not ctx.cancelled:
                time.sleep(0.001)

        thread = asyncio.ensure_future(asyncio.to_thread(poll))
        try:
            started.set()
            await asyncio.shield(thread)
        except asyncio.CancelledError:
            await thread
        return Slip()

    assert (await cancelled_in(handler, started)).error.code == "CANCELLED"


async def finish_and_cancel(order: list[str]) -> Outcome:
    """Lets a handler finish and cancels its attempt, in one callback of the loop."""
    started = asyncio.Event()
    gate: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def body() -> None:
        started.set()
        await gate

    task = asyncio.ensure_future(attempt(app_of(handles(body))))
    await started.wait()
    for what in order:
        if what == "finish" and not gate.done():
            gate.set_result(None)
        elif what == "cancel":
            task.cancel()
    return await task


@pytest.mark.parametrize("order", [["finish", "cancel"], ["cancel", "finish"]])
async def test_g7_a_cancellation_delivered_before_the_handler_returns_wins(
    order: list[str],
) -> None:
    """In the same instant: what the handler waited for is there, it did not return yet."""
    outcome = await finish_and_cancel(order)
    assert isinstance(outcome, Broke)
    assert (outcome.error.code, outcome.interruption) == ("CANCELLED", "cancelled")


async def test_g7_a_handler_that_returned_before_the_cancellation_is_completed() -> None:
    """In the same instant: the cancellation is the very next thing that the loop does."""
    loop = asyncio.get_running_loop()

    async def body() -> None:
        task = asyncio.current_task()
        assert task is not None
        loop.call_soon(task.cancel)

    outcome = await asyncio.ensure_future(attempt(app_of(handles(body))))
    assert isinstance(outcome, Returned)
    assert outcome.effect == "done"


async def test_an_app_whose_context_is_opened_late_is_not_entered_after_a_cancellation() -> None:
    """A context factory that swallows the cancellation: effect none, and it is closed."""
    notes: list[str] = []
    started = asyncio.Event()

    class Stubborn:
        async def __aenter__(self) -> None:
            started.set()
            try:
                await for_ever()
            except asyncio.CancelledError:
                notes.append("swallowed")

        async def __aexit__(self, *_: object) -> None:
            notes.append("closed")

    task = asyncio.ensure_future(broken(app_of(succeeds, context=lambda _: Stubborn())))
    await started.wait()
    task.cancel()
    outcome = await task
    assert (outcome.error.code, outcome.effect) == ("CANCELLED", "none")
    assert notes == ["swallowed", "closed"]


async def test_several_attempts_in_one_task_do_not_inherit_a_cancellation() -> None:
    """A caller that was cancelled before, and carried on, is not cancelled again."""

    async def both() -> Outcome:
        first = await attempt(app_of(waits))
        assert isinstance(first, Broke)
        return await attempt(app_of(succeeds))

    task: asyncio.Task[Outcome] = asyncio.ensure_future(both())
    await asyncio.sleep(0)
    task.cancel()
    assert isinstance(await task, Returned)
