"""The work that is measured: one trivial operation, as a capability and as a hand-written activity.

All do the same with the same models. The activity types have names of equal length, so that history
differs only by what governance writes.
"""

from typing import Final

from pydantic import BaseModel
from temporalio import activity

from temperance import Actor, Request, allow, capability
from temperance.runtime.decision import Allow
from temperance.workflows.options import derive_options


class RefundInput(BaseModel):
    """The input."""

    order_id: str
    cents: int


class RefundResult(BaseModel):
    """The output."""

    refund_id: str
    cents: int


ADA: Final = Actor(id="ada")
"""The requester."""


def may_spend(request: Request[RefundInput, RefundResult]) -> Allow:
    """A policy that looks at the input."""
    del request
    return allow()


def works_here(request: Request[RefundInput, RefundResult]) -> Allow:
    """A policy that looks at the requester."""
    del request
    return allow()


def has_time(request: Request[RefundInput, RefundResult]) -> Allow:
    """A third policy."""
    del request
    return allow()


POLICIES: Final = (may_spend, works_here, has_time)


@capability(
    "orders.refund",
    description="Refund an order.",
    expose={"agent", "direct"},
    side_effect="write",
    risk="high",
)
async def refund(input: RefundInput) -> RefundResult:
    """Governed, with nothing that looks at it."""
    return RefundResult(refund_id=input.order_id, cents=input.cents)


@capability(
    "orders.settle",
    description="Settle an order.",
    expose={"agent", "direct"},
    side_effect="write",
    risk="high",
    policies=POLICIES,
)
async def settle(input: RefundInput) -> RefundResult:
    """Governed, with three policies; its audit events are written as lines of JSON."""
    return RefundResult(refund_id=input.order_id, cents=input.cents)


@activity.defn(name="orders.return")
async def give_back(input: RefundInput) -> RefundResult:
    """The same, by hand."""
    return RefundResult(refund_id=input.order_id, cents=input.cents)


OPTIONS: Final = derive_options(refund)
"""What a careful author would write by hand for this activity: the governed one's own options."""
