"""The one way in which a test waits: for a condition, never for a time."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

T = TypeVar("T")


async def wait_until(
    condition: Callable[[], Awaitable[T]],
    timeout: timedelta = timedelta(seconds=20),
    *,
    every: timedelta = timedelta(milliseconds=10),
) -> T:
    """Ask until the answer is true (truthy), and return it.

    The timeout is a backstop against a test that hangs, never part of what is tested: keep it
    generous.

    Raises:
        AssertionError: it was not true in time; the message has the condition's name and last
            answer.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + timeout.total_seconds()
    while not (answer := await condition()):
        if loop.time() > end:
            name = getattr(condition, "__qualname__", repr(condition))
            raise AssertionError(f"{name} was not true within {timeout}; it last gave {answer!r}")
        await asyncio.sleep(every.total_seconds())
    return answer
