"""The capabilities of the recorded stories.

Histories were recorded with these ids, inputs and metadata: what is here may be added to, and is
not changed.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel

from temperance import (
    App,
    Approval,
    Context,
    DeclaredError,
    DidNotHappen,
    Governance,
    Happened,
    Reconcile,
    Redact,
    Retry,
    capability,
    did_not_happen,
    happened,
)
from temperance.runtime.sink import Sink

entries: list[str] = []
"""Execution ids of the handlers that were entered in this process."""


class Order(BaseModel):
    """What every capability here is given."""

    id: str
    amount: Decimal = Decimal("1.10")
    tags: set[str] = set()
    due: datetime | None = None
    act: Literal["return", "raise", "decline", "hang", "fail once", "nap"] = "return"


class Receipt(BaseModel):
    """What every capability here gives."""

    order: str
    at: datetime
    secret: str = "hidden"


class Declined(DeclaredError):
    """A handler's no."""

    reason = "DECLINED"


async def play(input: Order, ctx: Context[None]) -> Receipt:
    """Do as the order says."""
    entries.append(ctx.execution_id)
    match input.act:
        case "raise":
            raise ConnectionError
        case "decline":
            raise Declined("No.", details={"order": input.id})
        case "hang":
            await asyncio.Event().wait()
        case "fail once":
            if ctx.attempt == 1:
                raise ConnectionError
        case "nap":
            await asyncio.sleep(0.1)
        case "return":
            pass
    return Receipt(order=input.id, at=datetime(2026, 1, 2, 3, 4, 5))  # noqa: DTZ001 - as it was


refund = capability(
    "shop.refund",
    description="A write that is not idempotent.",
    expose={"agent", "workflow"},
    side_effect="write",
    risk="high",
    timeout=timedelta(milliseconds=300),
    redact=Redact(output=("secret",)),
)(play)

charge = capability(
    "shop.charge",
    description="A write that is idempotent.",
    expose={"agent", "workflow"},
    side_effect="write",
    risk="high",
    idempotent=True,
    retry=Retry(max_retries=1, backoff=timedelta(milliseconds=1)),
    timeout=timedelta(milliseconds=300),
)(play)

look_up = capability(
    "shop.look_up",
    description="A read.",
    expose={"agent", "workflow"},
    side_effect="read",
    risk="low",
    retry=Retry(max_retries=2, backoff=timedelta(milliseconds=1)),
    timeout=timedelta(milliseconds=300),
)(play)

ship = capability(
    "shop.ship",
    description="A write that may take long.",
    expose={"agent", "workflow"},
    side_effect="external",
    risk="medium",
)(play)

export = capability(
    "shop.export",
    description="A read that may not wait for a worker.",
    expose={"workflow"},
    side_effect="read",
    risk="low",
    queue_timeout=timedelta(milliseconds=100),
)(play)

close = capability(
    "shop.close",
    description="What a person must approve.",
    expose={"agent", "workflow"},
    side_effect="destructive",
    risk="critical",
    approval=Approval(reason="It cannot be undone."),
)(play)

lend = capability(
    "shop.lend",
    description="What a person must approve soon, and does not see all of.",
    expose={"agent", "workflow"},
    side_effect="write",
    risk="high",
    approval=Approval(type="manager", expires_in=timedelta(milliseconds=300)),
    redact=Redact(output=("secret",), approval_input=("tags",)),
)(play)

glance = capability(
    "shop.glance",
    description="A read that runs in the asking worker.",
    expose={"agent", "workflow"},
    side_effect="read",
    risk="low",
    placement="local",
    retry=Retry(max_retries=1, backoff=timedelta(milliseconds=1)),
    timeout=timedelta(milliseconds=300),
)(play)


async def find(input: Order) -> Happened[Receipt] | DidNotHappen:
    """What raised had happened all the same; nothing else had."""
    if input.act == "raise":
        return happened(Receipt(order=input.id, at=datetime(2026, 1, 2, 3, 4, 6)))  # noqa: DTZ001 - as it was
    return did_not_happen()


bill = capability(
    "shop.bill",
    description="A write that is asked about, and run once more where it did not happen.",
    expose={"agent", "workflow"},
    side_effect="external",
    risk="high",
    timeout=timedelta(milliseconds=300),
    redact=Redact(output=("secret",)),
    reconcile=Reconcile(find, run_again=True),
)(play)

CAPABILITIES = (refund, charge, look_up, ship, export, close, lend, glance, bill)


def shop(sinks: Sequence[Sink] = ()) -> App:
    """The application of the recorded stories."""
    return App(Governance(CAPABILITIES), sinks=sinks)
