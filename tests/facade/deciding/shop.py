"""A shop whose refunds people approve; its effects are lines of a file."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from pydantic import BaseModel

from temperance import (
    Actor,
    App,
    Approval,
    Context,
    Decision,
    Governance,
    Redact,
    Request,
    allow,
    capability,
    require_approval,
)
from temperance.runtime.approval import ApprovalRecord

CARD = "4000-0012-3456-7899"


class Refund(BaseModel):
    """What is to be refunded."""

    order: str
    cents: int = 74_900
    note: str = ""
    card: str = CARD


class Receipt(BaseModel):
    """What was."""

    order: str
    secret: str = "of whoever asked"


def over_the_limit(request: Request[Refund, Receipt]) -> Decision:
    """Much money needs a second reason."""
    if request.input.cents > 50_000:
        return require_approval(f"{request.input.cents / 100:.2f} EUR is over 500.00 EUR.")
    return allow()


async def pay(input: Refund, ctx: Context[Path]) -> Receipt:
    """A line in the book, and sometimes a failure."""
    with ctx.app.open("a") as book:
        book.write(f"{input.order}\n")
    if input.order == "broken":
        raise ConnectionError(input.card)
    return Receipt(order=input.order)


refund = capability(
    "shop.refund",
    description="Refund an order, in full or in part.",
    expose={"direct", "agent"},
    side_effect="write",
    risk="high",
    approval=Approval(type="shift_lead", reason="Money leaves the house."),
    redact=Redact(approval_input=("card",)),
    policies=[over_the_limit],
    timeout=timedelta(seconds=5),
)(pay)

hurry = capability(
    "shop.hurry",
    description="Refund an order at once, or not at all.",
    expose={"direct"},
    side_effect="external",
    risk="critical",
    approval=Approval(expires_in=timedelta(milliseconds=1500)),
    timeout=timedelta(seconds=5),
)(pay)


def may_approve(approver: Actor, record: ApprovalRecord) -> bool:
    """Anybody but one."""
    del record
    return approver.id != "intern"


def app_of(book: Path) -> App:
    """The application whose effects go into a file."""

    @asynccontextmanager
    async def context(request: object) -> AsyncGenerator[Path]:
        del request
        yield book

    return App(
        Governance([refund, hurry]),
        context=context,
        sinks=[],
        task_queue="shop",
        may_approve=may_approve,
    )
