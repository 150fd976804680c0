"""The capabilities that the tests of this folder are about."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from temperance.runtime.actor import Actor
from temperance.runtime.capability import Capability
from temperance.runtime.context import Context
from temperance.runtime.request import Request

ALICE = Actor(id="alice", attributes={"role": "support"})


class Order(BaseModel):
    order_id: str
    amount: int = 1


class Receipt(BaseModel):
    receipt_id: str
    card: str | None = None


async def refund(input: Order, ctx: Context[None]) -> Receipt:
    return Receipt(receipt_id=f"r-{input.order_id}", card=ctx.idempotency_key)


async def look_up(input: Order) -> Receipt:
    return Receipt(receipt_id=input.order_id)


def make(id: str = "orders.refund", **metadata: Any) -> Capability[Any, Any]:
    """A capability in which nothing is wrong but what is given here, of whatever type."""
    handler: Callable[..., object] = metadata.pop("handler", look_up)
    sound: dict[str, Any] = {
        "description": "Refund an order.",
        "expose": frozenset({"agent"}),
        "side_effect": "read",
        "risk": "low",
        "declared_in": f"tests.{getattr(handler, '__name__', 'handler')}",
    }
    return Capability[Any, Any](id=id, handler=handler, **(sound | metadata))


def request(
    capability: Capability[Any, Any] | None = None, value: object = None
) -> Request[Any, Any]:
    """A request as policies see it."""
    return Request[Any, Any](
        capability=capability or make(),
        input=value,
        input_hash="",
        actor=ALICE,
        surface="agent",
        execution_id="e-1",
    )


SECOND = timedelta(seconds=1)
