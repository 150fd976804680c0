"""Threads for ``def`` handlers (DESIGN sections 4 and 8)."""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Final

THREADS: Final = 128
"""Most ``def`` handlers that run at once in a process."""


@lru_cache(maxsize=1)
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="temperance-handler")


async def in_thread(handler: Callable[..., object], arguments: tuple[object, ...]) -> object:
    """Calls a handler in a thread of its own, with the context variables of the attempt.

    Args:
        handler: A ``def`` handler.
        arguments: Its positional arguments.

    Returns:
        What it returns. When the attempt is told to stop, this ends at once and the thread goes on;
        one that has not begun never does.
    """
    context = contextvars.copy_context()
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_threads(), lambda: context.run(_called, handler, arguments))


def _called(handler: Callable[..., object], arguments: tuple[object, ...]) -> object:
    try:
        return handler(*arguments)
    except StopIteration as error:
        # A future cannot hold one: the attempt would wait for it until the deadline.
        raise RuntimeError("the handler raised StopIteration") from error
