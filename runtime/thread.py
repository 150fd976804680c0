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
    output, raised = await loop.run_in_executor(
        _threads(), lambda: context.run(_called, handler, arguments)
    )
    if isinstance(raised, StopIteration):
        # A coroutine cannot raise one.
        message = "the handler raised StopIteration"
        raise RuntimeError(message) from raised  # noqa: TRY004 - it is no question of a type
    if raised is None:
        return output
    try:
        raise raised
    finally:
        del raised  # its traceback has this frame: together they would wait for the collector


def _called(
    handler: Callable[..., object], arguments: tuple[object, ...]
) -> tuple[object, BaseException | None]:
    """What it returned, or raised: a future would make a new one of a `TimeoutError`.

    The new one does not know where it was raised; and a `StopIteration` no future can hold: the
    attempt would wait for it until the deadline.
    """
    try:
        return handler(*arguments), None
    except BaseException as error:  # noqa: BLE001 - whatever it is, the attempt judges it
        return None, error
