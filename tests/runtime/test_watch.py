"""Whether an attempt was interrupted is known whatever becomes of the exception (G7)."""

import asyncio
from contextlib import suppress
from datetime import timedelta

import pytest

from temperance.runtime.call import Call
from temperance.runtime.decision import Decision, allow
from temperance.runtime.event import Event
from temperance.runtime.margin import margin_after, patience_after, time_beside
from temperance.runtime.policy import Policy
from temperance.runtime.watch import Watch
from tests.runtime.attempts import app_of, giving, succeeds
from tests.runtime.orders import ALICE

CALL = Call("orders.refund", None, ALICE, "agent", "e-1")


def here() -> asyncio.Task[object]:
    task = asyncio.current_task()
    assert task is not None
    return task


async def test_a_cancellation_that_was_swallowed_is_still_known() -> None:
    async def swallows() -> bool:
        watch = Watch(CALL)
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return watch.interrupted

    task = asyncio.ensure_future(swallows())
    await asyncio.sleep(0)
    task.cancel()
    assert await task


async def test_a_cancellation_from_before_the_attempt_does_not_count() -> None:
    async def both() -> list[bool]:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        watch = Watch(CALL)
        known = [watch.interrupted]
        here().cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0)
        return [*known, watch.interrupted]

    task = asyncio.ensure_future(both())
    await asyncio.sleep(0)
    task.cancel()
    assert await task == [False, True]


async def test_what_an_attempt_sent_itself_is_taken_back_and_no_more() -> None:
    """Also where the application took some of it back already."""

    async def runs() -> list[int]:
        watch = Watch(CALL)
        counts: list[int] = []
        for sent, taken in ((2, 0), (2, 1), (1, 1)):
            for _ in range(sent):
                here().cancel()
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(0)
            for _ in range(taken):
                here().uncancel()
            watch.forget(sent)
            counts.append(here().cancelling())
        return counts

    assert await asyncio.ensure_future(runs()) == [0, 0, 0]


async def test_what_the_driver_knows_counts_beside_the_task() -> None:
    assert Watch(CALL._replace(interrupted=lambda: True)).interrupted
    assert not Watch(CALL).interrupted


async def test_outside_of_a_task_nothing_can_be_watched() -> None:
    told: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def callback() -> None:
        try:
            Watch(CALL)
        except RuntimeError as error:
            told.set_result(str(error))

    asyncio.get_running_loop().call_soon(callback)
    assert "task" in await told


@pytest.mark.parametrize(
    ("timeout", "margin"),
    [(0.1, 1.0), (2, 1.0), (6, 3.0), (20, 10.0), (3600, 10.0)],
)
def test_the_margin_is_half_the_timeout_between_one_second_and_ten(
    timeout: float, margin: float
) -> None:
    given = timedelta(seconds=timeout)
    assert margin_after(given) == timedelta(seconds=margin)
    assert patience_after(given) < margin_after(given)


async def considers(request: object) -> Decision:
    return allow()


class Slow:
    async def record(self, event: Event) -> None:
        """Records in its own time."""


class CallableRule:
    async def __call__(self, request: object) -> Decision:
        return allow()


def test_the_time_beside_a_handler_is_what_can_be_waited_for() -> None:
    """Policies of all phases and three events a sink; what cannot wait needs no time."""
    plain = app_of(succeeds, policies=[giving(allow())])
    (entry,) = plain.governance.registry
    assert time_beside(plain, entry) == timedelta(0)
    slow = app_of(
        succeeds,
        policies=[considers, Policy(considers, "discovery"), CallableRule(), giving(allow())],
        sinks=[Slow()],
        sink_timeout=timedelta(seconds=2),
    )
    (entry,) = slow.governance.registry
    assert time_beside(slow, entry) == timedelta(seconds=3 * 1 + 3 * 2)
