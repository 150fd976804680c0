"""Middleware: the application's own code around a handler, and its authoritative authorization."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from .context import Context
from .raised import is_passed_on

Proceed = Callable[[], Awaitable[object]]
"""Runs the rest of the chain and gives the handler's output."""

# The application's context and the output are any type: one middleware serves many capabilities.
Middleware = Callable[[Context[Any], Proceed], Awaitable[object]]
"""``async def (ctx, proceed)``: call ``proceed()`` at most once and return an output.

Raise `CapabilityError` with code ``FORBIDDEN`` or a `DeclaredError` to refuse.
"""


def wrap(chain: tuple[Middleware, ...], ctx: Context[Any], innermost: Proceed) -> Proceed:
    """Puts the middleware around the innermost call, the first one outermost."""
    proceed = innermost
    for layer in reversed(chain):
        proceed = _layer(layer, ctx, proceed)
    return proceed


def _layer(layer: Middleware, ctx: Context[Any], inner: Proceed) -> Proceed:
    entered = False

    async def once() -> object:
        # A second call would be a retry that no rule allowed (G2).
        nonlocal entered
        if entered:
            raise RuntimeError("middleware called proceed() twice")
        entered = True
        task = asyncio.current_task()
        try:
            return await inner()
        except (SystemExit, GeneratorExit) as error:
            if is_passed_on(error, task):
                raise
            # Out of a task, and `asyncio.wait_for` makes one, the first would end the event loop,
            # and the second whatever waits for the task.
            failure = RuntimeError(f"the handler raised {type(error).__name__}")
            raise failure.with_traceback(error.__traceback__) from None

    def proceed() -> Awaitable[object]:
        return layer(ctx, once)

    return proceed
