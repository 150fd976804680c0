"""The history that docs/explanation tells: made once on a real server, and replayed by the tests.

python -m tests.docs.one_history     writes docs/explanation/one-history.json anew
"""

import asyncio
from datetime import timedelta

from pydantic import BaseModel

from temperance import Context, DeclaredError, Retry, capability


class Order(BaseModel):
    """Which order."""

    order: str


class Refund(BaseModel):
    """What to pay back."""

    order: str
    cents: int


class Charge(BaseModel):
    """What the gateway recorded."""

    charge: str


class Mail(BaseModel):
    """What to send."""

    to: str


class AlreadyRefunded(DeclaredError):
    """The order was refunded by another execution."""

    reason = "ALREADY_REFUNDED"


LOOKUPS: list[int] = []
CHARGES: dict[str, str] = {}
"""The gateway's table: order to idempotency key."""


@capability(
    "orders.lookup",
    description="Look an order up.",
    expose={"agent"},
    side_effect="read",
    risk="low",
    retry=Retry(max_retries=2),
)
async def lookup(input: Order, ctx: Context[None]) -> Refund:
    """Fails twice, as a database that is being restarted would."""
    LOOKUPS.append(ctx.attempt)
    if ctx.attempt < 3:
        raise ConnectionError("the warehouse does not answer")
    return Refund(order=input.order, cents=1999)


@capability(
    "orders.refund",
    description="Refund an order.",
    expose={"agent"},
    side_effect="write",
    risk="high",
    idempotent=True,
    retry=Retry(max_retries=3),
    timeout=timedelta(milliseconds=300),
)
async def refund(input: Refund, ctx: Context[None]) -> Charge:
    """The gateway takes the money and does not answer in time; it knows the key the second time."""
    known = CHARGES.setdefault(input.order, ctx.idempotency_key)
    if known != ctx.idempotency_key:
        raise AlreadyRefunded("The order was refunded before.")
    if ctx.attempt == 1:
        await asyncio.sleep(60)
    return Charge(charge=f"c-{input.order}")


@capability(
    "mail.send",
    description="Send the customer a mail.",
    expose={"agent"},
    side_effect="external",
    risk="medium",
)
async def send(input: Mail) -> Charge:
    """The mail server breaks off: nobody knows whether it sent."""
    raise OSError(f"connection lost while sending to {input.to}")
