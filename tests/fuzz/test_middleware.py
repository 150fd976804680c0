"""Middleware and contexts that misbehave: the handler runs once at most, and no secret is told."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from temperance import (
    App,
    Context,
    Governance,
    MemorySink,
    Request,
)
from tests.fuzz.budget import budget
from tests.fuzz.faults import FAULTS
from tests.fuzz.judging import Door, invoke
from tests.fuzz.objects import ANYTHING, OBJECTS
from tests.fuzz.orders import SOON, Make, Order, Slip, asked, one, retried
from tests.fuzz.secret import SECRET
from tests.fuzz.values import PLAIN

LAYER = st.tuples(
    st.sampled_from(
        ["raises", "after", "twice", "never", "answers", "swallows", "task", "waits", "generator"]
    ),
    FAULTS,
    ANYTHING,
)


def layer_of(layer: tuple[str, Make, object]) -> Callable[..., Any]:
    """Middleware that behaves as drawn."""
    way, make, value = layer

    async def act(ctx: Context[Any], proceed: Callable[[], Awaitable[object]]) -> object:
        if way == "raises":
            raise make()
        if way == "never":
            return value
        if way == "waits":
            await asyncio.Event().wait()
        if way == "task":
            return await asyncio.ensure_future(proceed())
        if way == "swallows":
            with contextlib.suppress(BaseException):
                return await proceed()
            return value
        output = await proceed()
        if way == "after":
            raise make()
        if way == "twice":
            await proceed()
        return value if way == "answers" else output

    async def generate(ctx: Context[Any], proceed: Any) -> AsyncGenerator[object]:
        yield value

    return generate if way == "generator" else act


@budget(3)
@given(st.lists(LAYER, min_size=1, max_size=3), FAULTS, st.booleans(), st.booleans())
async def test_g2_middleware_of_any_kind_runs_the_handler_once_at_most(
    layers: list[tuple[str, Make, object]], make: Make, fails: bool, retries: bool
) -> None:
    """It may call twice, never, in a task, answer in its place, and swallow whatever comes."""
    door = Door()

    async def handler(input: Order) -> Slip:
        door.entered += 1
        await asyncio.sleep(0)
        if fails:
            raise make()
        door.returned += 1
        return Slip(card=SECRET)

    metadata = retried("write") if retries else {}
    entry = one(
        handler,
        middleware=tuple(layer_of(layer) for layer in layers),
        **({"timeout": SOON} | metadata),
    )
    sink = MemorySink()
    app = App(Governance([entry]), sinks=[sink])
    seen = await invoke(app, sink, entry, {})
    assert door.entered <= seen.envelope.attempts
    if seen.envelope.effect == "none":
        assert door.entered == 0
    if door.entered == 0:
        assert seen.envelope.effect == "none"


CONTEXTS = st.sampled_from(
    ["factory", "enter", "exit", "swallows", "not one", "slow", "slow exit", "holds"]
)


@budget(2)
@given(CONTEXTS, FAULTS, OBJECTS | PLAIN, st.booleans())
async def test_g10_an_application_context_of_any_kind_tells_nothing_of_itself(
    way: str, make: Make, value: object, fails: bool
) -> None:
    """It may fail while it is made, entered or left, and hold whatever it likes."""
    door = Door()

    async def handler(input: Order, ctx: Context[Any]) -> Slip:
        door.entered += 1
        if fails:
            raise make()
        door.returned += 1
        return Slip(card=SECRET)

    @contextlib.asynccontextmanager
    async def made(request: Request[Any, Any]) -> AsyncGenerator[object]:
        if way == "enter":
            raise make()
        if way == "slow":
            await asyncio.Event().wait()
        try:
            yield value if way == "holds" else SECRET
        except BaseException:
            if way != "swallows":
                raise
        if way == "exit":
            raise make()
        if way == "slow exit":
            await asyncio.Event().wait()

    def factory(request: Request[Any, Any]) -> Any:
        if way == "factory":
            raise make()
        return value if way == "not one" else made(request)

    timeout = SOON if way.startswith("slow") else timedelta(seconds=5)
    seen = await asked(door, one(handler, timeout=timeout), context=factory)
    if way in {"factory", "enter", "not one", "slow"}:
        assert door.entered == 0
        assert seen.envelope.effect == "none"
