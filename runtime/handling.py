"""Stage 10: middleware and handler under the attempt's own deadline (G7, DESIGN section 8).

The handler runs in the attempt's own task. Deadline and cancellation are delivered into it, and
whatever it returns or raises after that is dropped. So the rule for a handler that finishes in the
instant of a cancellation is exact: if it returned before the cancellation was delivered into it,
the execution is completed; otherwise it is cancelled. The deadline is a moment, not a delivery: a
handler that blocked the event loop past it, so that nothing could be delivered, is late all the
same.

A handler that does not end when it is told to is told again from time to time. One that never
listens cannot be stopped (DESIGN section 2): on Temporal the server closes the attempt without it.
"""

import asyncio
import logging
from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager
from time import time
from typing import Any

from .alarm import alarms_of
from .app import App, ContextFactory, no_context
from .call import Call, Interruption
from .context import Context
from .error import CapabilityError, Stage
from .margin import patience_after
from .middleware import wrap
from .raised import interrupted, is_passed_on, translate
from .request import Request
from .thread import in_thread
from .watch import Watch

_log = logging.getLogger("temperance.attempt")


class Handling:
    """One run of a handler, and how it ended.

    Args:
        app: The application.
        call: The attempt.
        request: The admissible request.
        watch: Knows whether the attempt was interrupted from outside.
    """

    __slots__ = (
        "_alarms",
        "_app",
        "_call",
        "_closed",
        "_ctx",
        "_end",
        "_request",
        "_strikes",
        "_watch",
        "entered",
        "error",
        "interruption",
        "output",
    )

    def __init__(self, app: App, call: Call, request: Request[Any, Any], watch: Watch) -> None:
        self._app = app
        self._call = call
        self._request = request
        self._watch = watch
        self._alarms = alarms_of(watch.loop)
        self._closed = False
        self._ctx: Context[Any] | None = None
        self._end = 0.0
        self._strikes = 0
        self.entered = False
        """Whether the handler was entered."""
        self.output: object = None
        """What it returned, where there is no error."""
        self.error: CapabilityError | None = None
        """Why there is no output."""
        self.interruption: Interruption | None = None
        """Set where the attempt was interrupted from outside."""

    async def run(self) -> None:
        """Makes the context, runs middleware and handler, closes the context.

        How it ended is then known; a cancellation from outside is reported, not raised.
        """
        clock = self._watch.loop.time
        began = clock()
        self._end = end = self._watch.deadline(self._request.capability.seconds, began)
        self._alarms.set(self, end)
        raised: BaseException | None = None
        output: object = None
        try:
            deadline = time() + end - began
            if self._app.context is no_context:
                output = await self._proceed(None, deadline)
            else:
                output = await self._in_context(self._app.context, deadline)
        except BaseException as error:  # a handler may raise anything
            if is_passed_on(error, self._watch.task):
                raise
            raised = error
        finally:
            self._closed = True
            self._alarms.clear(self)
        late = self._strikes > 0 or clock() >= end
        if self._strikes:
            self._watch.forget(self._strikes)
        if self._watch.interrupted:
            self._stop()
            self.interruption = self._call.interruption()
            self.error = interrupted(self.interruption, self._stage)
        elif late:
            self.error = CapabilityError(
                "TIMEOUT",
                stage=self._stage,
                details={"timeout_seconds": round(max(end - began, 0), 3)},
            )
        elif raised is not None:
            self.error = translate(raised)
        else:
            self.output = output
        # The context knows this run. Knowing each other they would be left to the garbage
        # collector, with all that hangs on them, at each attempt.
        self._ctx = None

    async def _in_context(self, factory: ContextFactory, deadline: float) -> object:
        try:
            manager = factory(self._request)
            made = await manager.__aenter__()
        except Exception as error:  # noqa: BLE001 - the factory is the application's own
            raise CapabilityError("INTERNAL_ERROR", expose=True, cause=error) from None
        try:
            output = await self._proceed(made, deadline)
        except BaseException as error:
            await self._close_after(manager, error)
            raise
        # Closing may be what commits: where it fails, the outcome is unknown and said so.
        await manager.__aexit__(None, None, None)
        return output

    async def _close_after(
        self, manager: AbstractAsyncContextManager[object], error: BaseException
    ) -> None:
        """Closes the context after a failure; what failed first stays the reason."""
        try:
            await manager.__aexit__(type(error), error, error.__traceback__)
        except BaseException as closing:  # the context is the application's own
            if is_passed_on(closing, self._watch.task):
                raise
            if closing is not error:
                _log.warning("closing the application context failed (%s)", type(closing).__name__)

    def _proceed(self, made: object, deadline: float) -> Awaitable[object]:
        self._ctx = ctx = Context(made, self._request, deadline, self._told_to_stop)
        capability = self._request.capability
        chain = self._app.governance.middleware + capability.middleware
        return wrap(chain, ctx, self._enter)() if chain else self._enter()

    async def _enter(self) -> object:
        if self._closed:
            # Middleware left its call to a task of its own: the end without it may be recorded.
            raise RuntimeError("middleware called proceed() after its attempt had ended")
        if self._told_to_stop() or self._watch.loop.time() >= self._end:
            # Whatever ran before swallowed it: nothing that acts on the world is begun after.
            raise asyncio.CancelledError
        capability = self._request.capability
        handler = capability.handler
        arguments = (
            (self._request.input, self._ctx) if capability.takes_context else (self._request.input,)
        )
        self.entered = True
        if self._call.entered is not None:
            self._call.entered()
        if not capability.is_async:
            return await in_thread(handler, arguments)
        pending: Any = handler(*arguments)  # an awaitable: the handler is `async def`
        output: object = await pending
        return output

    def _told_to_stop(self) -> bool:
        return self._strikes > 0 or self._watch.interrupted

    def ring(self) -> None:
        """Tells the handler to stop, and sees to it that it is told again."""
        self._strikes += 1
        self._stop()
        self._watch.task.cancel()
        patience = patience_after(self._request.capability.timeout)
        self._alarms.set(self, self._watch.loop.time() + patience.total_seconds())

    def _stop(self) -> None:
        if self._ctx is not None:
            self._ctx.cancel()

    @property
    def _stage(self) -> Stage:
        return "handler" if self.entered else "controls"
