"""Audit sinks that throw, hang, cancel or answer anything: the outcome stands, the rest records."""

import asyncio
import contextlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from temperance import App, Event, Governance, MemorySink
from tests.fuzz.budget import budget
from tests.fuzz.faults import FAULTS
from tests.fuzz.judging import Door, invoke, judge
from tests.fuzz.objects import ANYTHING
from tests.fuzz.orders import SOON, Order, Slip, one, retried

Make = Callable[[], BaseException]
WAYS = st.sampled_from(
    ["raises", "returns", "raises later", "hangs", "deaf", "cancels its task", "task", "keeps"]
)
BEHAVIOUR: st.SearchStrategy[tuple[str, Make, Any]] = st.tuples(WAYS, FAULTS, ANYTHING)


class Unruly:
    """A sink that behaves as drawn."""

    def __init__(self, way: str, make: Make, value: object) -> None:
        self.way, self.make, self.value = way, make, value

    def record(self, event: Event) -> Any:
        """Does as it likes."""
        if self.way == "raises":
            raise self.make()
        if self.way == "returns":
            return self.value
        if self.way == "keeps":
            return None
        return asyncio.ensure_future(self.later()) if self.way == "task" else self.later()

    async def later(self) -> None:
        """Likewise, while the attempt waits."""
        if self.way == "raises later":
            await asyncio.sleep(0)
            raise self.make()
        if self.way == "cancels its task" and (task := asyncio.current_task()) is not None:
            task.cancel()
            await asyncio.sleep(0)
        if self.way == "hangs":
            await asyncio.Event().wait()
        if self.way == "deaf":
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()


@budget(1.5)
@given(st.lists(BEHAVIOUR, min_size=1, max_size=2), st.booleans(), st.booleans(), st.booleans())
async def test_g4_whatever_the_other_sinks_do_the_trail_of_this_one_is_whole(
    behaviours: list[tuple[str, Make, object]], strict: bool, fails: bool, retries: bool
) -> None:
    """In strict audit no handler is entered whose start was not recorded everywhere."""
    door, sink = Door(), MemorySink()

    async def handler(input: Order) -> Slip:
        door.entered += 1
        if fails:
            raise ConnectionError
        door.returned += 1
        return Slip()

    others = [Unruly(*behaviour) for behaviour in behaviours]
    app = App(
        Governance([one(handler, **(retried("read") if retries else {}))]),
        sinks=[others[0], sink, *others[1:]],
        strict_audit=strict,
        sink_timeout=SOON,
    )
    seen = await invoke(app, sink, "fuzz.one", {})
    judge(seen, door)
    broken = any(way not in {"returns", "task", "keeps"} for way, *_ in behaviours)
    if strict and broken:
        assert door.entered == 0
    if not strict:
        assert door.entered > 0


@budget(0.5)
@given(BEHAVIOUR, st.sampled_from(["handler", "sink"]))
async def test_g7_a_cancellation_while_sinks_misbehave_still_ends_the_execution_once(
    behaviour: tuple[str, Make, object], when: str
) -> None:
    """The caller is told, and the sound sink has one end."""
    sink, entered = MemorySink(), asyncio.Event()

    async def handler(input: Order) -> Slip:
        entered.set()
        await asyncio.Event().wait()
        return Slip()

    app = App(
        Governance([one(handler, timeout=timedelta(seconds=20))]),
        sinks=[Unruly(*behaviour), sink],
        sink_timeout=SOON,
    )
    task = asyncio.ensure_future(invoke(app, sink, "fuzz.one", {}))
    waited = asyncio.ensure_future(entered.wait())
    if when == "handler":
        await asyncio.wait({waited}, timeout=10)
    else:
        await asyncio.sleep(0)
    waited.cancel()
    task.cancel()
    await asyncio.wait({task}, timeout=10)
    assert task.cancelled()
    ends = [type_ for type_ in sink.types() if type_ == "capability.cancelled"]
    assert len(ends) <= 1
    assert when == "sink" or ends
