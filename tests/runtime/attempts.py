"""Runs attempts of a single capability, whose handler and surroundings a test makes up."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from temperance.runtime.app import App, ContextFactory, no_context
from temperance.runtime.attempt import run_attempt
from temperance.runtime.call import Broke, Call, Outcome
from temperance.runtime.decision import Decision
from temperance.runtime.event import Event
from temperance.runtime.governance import Governance
from temperance.runtime.middleware import Middleware
from temperance.runtime.policy import Phase, Policy, PolicyFunction
from temperance.runtime.request import Request
from temperance.runtime.retry import Retry
from temperance.runtime.sink import MemorySink, Sink
from tests.runtime.orders import ALICE, Order, make

RETRIED: dict[str, Any] = {"side_effect": "read", "retry": Retry(max_retries=2)}
"""Metadata of what may have three attempts."""

AT_ONCE = timedelta(milliseconds=5)
"""A timeout of which a test waits for the end."""


class Slip(BaseModel):
    number: str = "1"


def app_of(
    handler: Callable[..., object],
    *,
    sinks: Sequence[Sink] | None = None,
    context: ContextFactory = no_context,
    policies: Sequence[Policy | PolicyFunction] = (),
    middleware: Sequence[Middleware] = (),
    strict_audit: bool = False,
    sink_timeout: timedelta = timedelta(seconds=1),
    **metadata: Any,
) -> App:
    """An application with the capability ``orders.refund``, a write unless told otherwise."""
    entry = make(handler=handler, **({"side_effect": "write"} | metadata))
    return App(
        Governance([entry], policies, middleware, policy_timeout=timedelta(seconds=1)),
        context=context,
        sinks=sinks,
        strict_audit=strict_audit,
        sink_timeout=sink_timeout,
    )


async def attempt(app: App, **fields: Any) -> Outcome:
    """Runs one attempt, as a driver does."""
    call: dict[str, Any] = {
        "capability_id": "orders.refund",
        "raw": {"order_id": "o-1"},
        "actor": ALICE,
        "surface": "agent",
        "execution_id": "e-1",
    }
    return await run_attempt(app, Call(**(call | fields)))


async def broken(app: App, **fields: Any) -> Broke:
    """Runs one attempt that must not succeed."""
    outcome = await attempt(app, **fields)
    assert isinstance(outcome, Broke), outcome
    return outcome


def handles(body: Callable[[], Awaitable[object]]) -> Callable[..., Any]:
    """A handler that does what a function without parameters does."""

    async def handler(order: Order) -> Slip:
        await body()
        return Slip()

    return handler


async def succeeds(order: Order) -> Slip:
    """A handler with nothing to it."""
    return Slip(number=order.order_id)


async def for_ever() -> None:
    """Waits until it is cancelled."""
    await asyncio.Event().wait()


async def never(order: Order) -> Slip:
    """A handler that must not be entered."""
    raise AssertionError


def giving(decision: Decision, phase: Phase = "invocation") -> Policy:
    """A policy that always says the same."""

    def rule(request: Request[Any, Any]) -> Decision:
        return decision

    return Policy(rule, phase)


def raising(error: BaseException) -> Callable[[object], Decision]:
    """A policy or a redaction that always raises the same."""

    def rule(value: object) -> Decision:
        raise error

    return rule


async def waits(order: Order) -> Slip:
    """A handler that only a cancellation ends."""
    await for_ever()
    return Slip()


def impatient(_: timedelta) -> timedelta:
    """How long a handler may take to stop, in a test that waits for it."""
    return timedelta(milliseconds=1)


class Recorder(MemorySink):
    """A sink that also knows what the last event says."""

    @property
    def last(self) -> Event:
        """The event recorded last."""
        return self.events[-1]
