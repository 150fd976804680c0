"""Middleware: around the handler, once."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from temperance.runtime.context import Context
from temperance.runtime.middleware import Proceed, wrap
from tests.runtime.orders import request

CTX = Context[Any](None, request(), datetime.now(UTC))


def noting(name: str, notes: list[str]) -> Callable[[Any, Proceed], Any]:
    async def layer(ctx: Any, proceed: Proceed) -> object:
        notes.append(f"{name} in")
        output = await proceed()
        notes.append(f"{name} out")
        return output

    return layer


async def test_the_first_one_is_outermost_and_the_output_passes_through() -> None:
    notes: list[str] = []

    async def handler() -> object:
        notes.append("handler")
        return 7

    chain = (noting("a", notes), noting("b", notes))

    assert await wrap(chain, CTX, handler)() == 7
    assert notes == ["a in", "b in", "handler", "b out", "a out"]


async def test_without_middleware_the_handler_is_all_there_is() -> None:
    async def handler() -> object:
        return 7

    assert wrap((), CTX, handler) is handler


async def test_g2_a_middleware_that_calls_the_handler_twice_is_stopped() -> None:
    entered = 0

    async def handler() -> object:
        nonlocal entered
        entered += 1
        raise ConnectionError

    async def retries(ctx: Any, proceed: Proceed) -> object:
        try:
            return await proceed()
        except ConnectionError:
            return await proceed()

    with pytest.raises(RuntimeError, match="twice"):
        await wrap((retries,), CTX, handler)()
    assert entered == 1


async def test_a_middleware_may_refuse_without_entering_the_handler() -> None:
    async def handler() -> object:
        raise AssertionError

    async def refuses(ctx: Any, proceed: Proceed) -> object:
        raise PermissionError

    with pytest.raises(PermissionError):
        await wrap((refuses,), CTX, handler)()
