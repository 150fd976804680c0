"""Stage 10: middleware and handler under the attempt's own deadline (G7, DESIGN section 8).

The handler runs in the attempt's own task. Deadline and cancellation are delivered into it, and
whatever it returns or raises after that is dropped. So the rule for a handler that finishes in the
instant of a cancellation is exact: if it returned before the cancellation was delivered into it,
the execution is completed; otherwise it is cancelled.
"""

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from typing import Any, Final, cast

from .app import App, no_context
from .call import Call, Interruption
from .context import Context
from .error import CapabilityError, DeclaredError, Stage
from .middleware import wrap
from .request import Request

THREADS: Final = 128
"""Most ``def`` handlers that run at once in a process."""

_log = logging.getLogger("temperance.attempt")


@dataclass(frozen=True, slots=True)
class Handled:
    """How the handler ended.

    Args:
        output: What it returned, if it did.
        error: Why there is no output.
        entered: Whether the handler was entered.
        interruption: Set where the attempt was interrupted from outside.
    """

    output: object = None
    error: CapabilityError | None = None
    entered: bool = False
    interruption: Interruption | None = None


class Handling:
    """One run of a handler.

    Args:
        app: The application.
        call: The attempt.
        request: The admissible request.
    """

    __slots__ = ("_app", "_call", "_ctx", "_entered", "_request", "_struck", "_task")

    def __init__(self, app: App, call: Call, request: Request[Any, Any]) -> None:
        self._app = app
        self._call = call
        self._request = request
        self._ctx: Context[Any] | None = None
        self._entered = False
        self._struck = False
        self._task: asyncio.Task[Any] | None = None

    async def run(self) -> Handled:
        """Makes the context, runs middleware and handler, closes the context.

        Returns:
            How it ended; a cancellation from outside is reported, not raised.
        """
        self._task = task = asyncio.current_task()
        if task is None:
            raise RuntimeError("an attempt must run in an asyncio task")
        before = task.cancelling()
        loop = asyncio.get_running_loop()
        timeout = self._request.capability.timeout
        timer = loop.call_later(timeout.total_seconds(), self._strike)
        raised: BaseException | None = None
        output: object = None
        try:
            output = await self._body(datetime.now(UTC) + timeout)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 - a handler is the application's and may raise anything
            raised = error
        finally:
            timer.cancel()
        if self._struck:
            task.uncancel()
        if task.cancelling() > before:
            self._stop()
            interruption = self._call.interruption()
            return Handled(
                error=interrupted(interruption, self._stage),
                entered=self._entered,
                interruption=interruption,
            )
        if self._struck:
            return Handled(
                error=CapabilityError(
                    "TIMEOUT",
                    stage=self._stage,
                    details={"timeout_seconds": timeout.total_seconds()},
                ),
                entered=self._entered,
            )
        if raised is not None:
            return Handled(error=self._translate(raised), entered=self._entered)
        return Handled(output=output, entered=self._entered)

    async def _body(self, deadline: datetime) -> object:
        factory = self._app.context
        if factory is no_context:
            return await self._proceed(None, deadline)
        try:
            manager = factory(self._request)
            made = await manager.__aenter__()
        except Exception as error:  # noqa: BLE001 - the factory is the application's own
            raise CapabilityError("INTERNAL_ERROR", expose=True, cause=error) from None
        try:
            output = await self._proceed(made, deadline)
        except BaseException as error:
            await _close_after(manager, error)
            raise
        # Closing may be what commits: where it fails, the outcome is unknown and said so.
        await manager.__aexit__(None, None, None)
        return output

    async def _proceed(self, made: object, deadline: datetime) -> object:
        self._ctx = ctx = Context(made, self._request, deadline)
        capability = self._request.capability
        chain = self._app.governance.middleware + capability.middleware
        if not chain:
            return await self._enter()
        return await wrap(chain, ctx, self._enter)()

    async def _enter(self) -> object:
        capability = self._request.capability
        handler = capability.handler
        arguments = (
            (self._request.input, self._ctx) if capability.takes_context else (self._request.input,)
        )
        self._entered = True
        if self._call.entered is not None:
            self._call.entered()
        if capability.is_async:
            awaited: object = await cast(Awaitable[object], handler(*arguments))
            return awaited
        return await _in_thread(handler, arguments)

    def _strike(self) -> None:
        self._struck = True
        self._stop()
        if self._task is not None:
            self._task.cancel()

    def _stop(self) -> None:
        if self._ctx is not None:
            self._ctx.cancel()

    @property
    def _stage(self) -> Stage:
        return "handler" if self._entered else "controls"

    def _translate(self, raised: BaseException) -> CapabilityError:
        if isinstance(raised, CapabilityError):
            return raised
        if isinstance(raised, DeclaredError):
            return raised.as_capability_error()
        after = getattr(raised, "retry_after", None)
        return CapabilityError(
            "EXECUTION_FAILED",
            cause=raised,
            retry_after=after if isinstance(after, timedelta) else None,
        )


def interrupted(interruption: Interruption, stage: Stage) -> CapabilityError:
    """The error of an attempt that was interrupted from outside."""
    match interruption:
        case "cancelled":
            return CapabilityError("CANCELLED", stage=stage)
        case "shutdown":
            message = "The worker shut down during the operation."
        case "paused":
            message = "An operator paused or reset the operation while it ran."
        case _:
            return CapabilityError("TIMEOUT", stage=stage)
    return CapabilityError("EXECUTION_FAILED", message, stage=stage)


async def _close_after(manager: AbstractAsyncContextManager[object], error: BaseException) -> None:
    """Closes the context after a failure; what failed first stays the reason."""
    try:
        await manager.__aexit__(type(error), error, error.__traceback__)
    except Exception as closing:  # noqa: BLE001 - the context is the application's own
        if closing is not error:
            _log.warning("closing the application context failed (%s)", type(closing).__name__)


@lru_cache(maxsize=1)
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="temperance-handler")


async def _in_thread(handler: Callable[..., object], arguments: tuple[object, ...]) -> object:
    context = contextvars.copy_context()
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_threads(), partial(context.run, handler, *arguments))
