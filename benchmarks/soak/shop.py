"""The capabilities under load, one of each kind, and the application that serves them.

What a handler does follows from the number in its input: every so many fail, are refused or take
long. So each minute of a soak is like the one before.
"""

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Final

from pydantic import BaseModel

from temperance import (
    Actor,
    App,
    Approval,
    Context,
    DeclaredError,
    Event,
    Governance,
    Request,
    Retry,
    Sink,
    allow,
    capability,
    deny,
)
from temperance.runtime.decision import Allow, Deny

ADA: Final = Actor(id="ada")
GRACE: Final = Actor(id="grace")
"""Decides what `ADA` asks for."""

SHORT: Final = timedelta(milliseconds=500)


class Order(BaseModel):
    """What is asked for."""

    number: int
    text: str = ""


class Receipt(BaseModel):
    """What was done."""

    number: int
    key: str


class AlreadyPaid(DeclaredError):
    """A handler's own refusal."""

    reason = "ALREADY_PAID"


def _receipt(input: Order, ctx: Context[None]) -> Receipt:
    return Receipt(number=input.number, key=ctx.idempotency_key)


def may_pay(request: Request[Order, Receipt]) -> Allow | Deny:
    """Denies one of fifty."""
    if request.input.number % 50 == 7:
        return deny("NOT_TODAY", "Not today.")
    return allow()


@capability(
    "soak.look",
    description="A read that fails at its first attempt, one time in ten.",
    expose={"workflow", "direct"},
    side_effect="read",
    risk="low",
    retry=Retry(max_retries=2, backoff=timedelta(milliseconds=10)),
    timeout=SHORT,
)
async def look(input: Order, ctx: Context[None]) -> Receipt:
    """Reads."""
    if ctx.attempt == 1 and input.number % 10 == 3:
        raise ConnectionError("try again")
    return _receipt(input, ctx)


@capability(
    "soak.pay",
    description="A write that nothing deduplicates.",
    expose={"workflow", "direct"},
    side_effect="write",
    risk="high",
    policies=[may_pay],
    timeout=SHORT,
)
async def pay(input: Order, ctx: Context[None]) -> Receipt:
    """Writes; one of twenty fails, one of forty is a refusal, one of a hundred hangs."""
    match input.number:
        case n if n % 100 == 11:
            await asyncio.sleep(60)
        case n if n % 40 == 5:
            raise AlreadyPaid("Paid already.")
        case n if n % 20 == 9:
            raise RuntimeError("the gateway is away")
        case _:
            pass
    return _receipt(input, ctx)


@capability(
    "soak.ship",
    description="An idempotent write, in a thread.",
    expose={"workflow", "direct"},
    side_effect="external",
    risk="medium",
    idempotent=True,
    retry=Retry(max_retries=3, backoff=timedelta(milliseconds=10)),
    timeout=SHORT,
)
def ship(input: Order, ctx: Context[None]) -> Receipt:
    """Writes under its key."""
    if ctx.attempt == 1 and input.number % 15 == 2:
        raise TimeoutError
    return _receipt(input, ctx)


@capability(
    "soak.close",
    description="A write that a person must approve.",
    expose={"workflow"},
    side_effect="destructive",
    risk="critical",
    approval=Approval(reason="A person closes accounts.", expires_in=timedelta(seconds=20)),
    timeout=SHORT,
)
async def close(input: Order, ctx: Context[None]) -> Receipt:
    """Writes."""
    return _receipt(input, ctx)


class CountingSink:
    """Counts events by type: what it keeps does not grow."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def record(self, event: Event) -> None:
        """Counts it."""
        self.counts[event.type] += 1


def app_of(sink: Sink, *workflows: type) -> App:
    """The application of one worker process."""
    return App(Governance([look, pay, ship, close]), sinks=[sink], workflows=workflows)
