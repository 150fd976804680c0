"""One timer of the event loop stands for the deadlines of all attempts (G7)."""

import asyncio
from collections.abc import Callable
from typing import Any

from temperance.runtime.alarm import Alarms, alarms_of

SOON = 0.001
LATER = 60.0


class Bell:
    """Notes that it rang."""

    def __init__(self, rings: list["Bell"], then: Callable[[], object] | None = None) -> None:
        self.rang = asyncio.Event()
        self._rings = rings
        self._then = then

    def ring(self) -> None:
        self._rings.append(self)
        self.rang.set()
        if self._then is not None:
            self._then()


def here() -> Alarms:
    return Alarms(asyncio.get_running_loop())


async def test_alarms_ring_in_the_order_of_their_times_whatever_the_order_of_setting() -> None:
    """One that is due sooner than all before it does not wait for the timer that was made first."""
    alarms, rings = here(), list[Bell]()
    last, first, never = Bell(rings), Bell(rings), Bell(rings)
    now = alarms.loop.time()
    alarms.set(never, now + LATER)
    alarms.set(last, now + 3 * SOON)
    alarms.set(first, now + SOON)
    await last.rang.wait()
    assert rings == [first, last]


async def test_an_alarm_that_was_cleared_does_not_ring() -> None:
    """Its timer goes off all the same, and finds the others."""
    alarms, rings = here(), list[Bell]()
    cleared, other = Bell(rings), Bell(rings)
    now = alarms.loop.time()
    alarms.set(cleared, now + SOON)
    alarms.set(other, now + 2 * SOON)
    alarms.clear(cleared)
    alarms.clear(cleared)
    await other.rang.wait()
    assert rings == [other]


async def test_an_alarm_that_is_set_anew_rings_once_at_its_new_time() -> None:
    """A ringer has one alarm, in place of the one that it had."""
    alarms, rings = here(), list[Bell]()
    moved, other = Bell(rings), Bell(rings)
    now = alarms.loop.time()
    alarms.set(moved, now + SOON)
    alarms.set(moved, now + 3 * SOON)
    alarms.set(other, now + 2 * SOON)
    await moved.rang.wait()
    assert rings == [other, moved]


async def test_a_ringer_may_set_its_alarm_again_while_it_rings() -> None:
    """So a handler that does not listen is told again, and a heartbeat follows the last."""
    alarms, rings = here(), list[Bell]()

    def again() -> None:
        if len(rings) < 3:
            bell.rang.clear()
            alarms.set(bell, alarms.loop.time() + SOON)

    bell = Bell(rings, again)
    alarms.set(bell, alarms.loop.time() + SOON)
    while len(rings) < 3:
        await bell.rang.wait()
        await asyncio.sleep(0)
    assert rings == [bell] * 3


async def test_one_that_is_cleared_by_another_that_is_due_too_does_not_ring() -> None:
    """An attempt that has ended is not told to stop, however late the loop is."""
    alarms, rings = here(), list[Bell]()
    second, third = Bell(rings), Bell(rings)
    first = Bell(rings, lambda: alarms.clear(second))
    now = alarms.loop.time()
    for bell in (first, second):
        alarms.set(bell, now - SOON)
    alarms.set(third, now + SOON)
    await third.rang.wait()
    assert rings == [first, third]


async def test_a_ringer_that_fails_keeps_no_other_from_ringing() -> None:
    """It is reported as the loop reports what fails in a callback of its own."""
    alarms, rings, reported = here(), list[Bell](), list[dict[str, Any]]()
    alarms.loop.set_exception_handler(lambda _, context: reported.append(context))

    def fail() -> None:
        raise LookupError("broken")

    broken, other = Bell(rings, fail), Bell(rings)
    now = alarms.loop.time()
    alarms.set(broken, now - SOON)
    alarms.set(other, now - SOON)
    await other.rang.wait()
    assert rings == [broken, other]
    assert [str(context["exception"]) for context in reported] == ["broken"]


def test_each_event_loop_has_alarms_of_its_own() -> None:
    """A thread that runs one loop after the other finds the alarms of the one that runs."""

    async def twice() -> tuple[Alarms, Alarms]:
        loop = asyncio.get_running_loop()
        return alarms_of(loop), alarms_of(loop)

    first, same = asyncio.run(twice())
    other, _ = asyncio.run(twice())
    assert first is same
    assert other is not first
    assert other.loop is not first.loop


async def test_alarms_that_are_left_ring_after_another_loop_has_run_in_the_same_thread() -> None:
    """What was set stays with the timer that was made for it."""
    alarms, rings = alarms_of(asyncio.get_running_loop()), list[Bell]()
    bell = Bell(rings)
    alarms.set(bell, alarms.loop.time() + SOON)
    await asyncio.to_thread(asyncio.run, asyncio.sleep(0))
    assert alarms_of(asyncio.get_running_loop()) is alarms
    await bell.rang.wait()
    assert rings == [bell]
