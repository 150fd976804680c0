"""Capabilities that people must approve, and the application that serves them."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from temperance import (
    Actor,
    App,
    Approval,
    Capability,
    Context,
    Governance,
    Policy,
    Redact,
    Request,
    Retry,
    capability,
)
from temperance.runtime.approval import ApprovalRecord
from temperance.runtime.sink import Sink
from tests.guarantees.approvals.payments import Payment, Receipt
from tests.guarantees.runs.books import Books, Entry

SHORT = timedelta(seconds=5)
EXPIRY = timedelta(milliseconds=1500)
CARD = Redact(approval_input=("card",))


async def pay(input: Payment, ctx: Context[Books]) -> Receipt:
    """Note the entry, then play the act."""
    place = ctx.request.workflow
    if place is None:
        raise AssertionError("these handlers are called on Temporal")
    ctx.app.enter(
        Entry(
            input.label,
            ctx.idempotency_key,
            ctx.execution_id,
            place.run_id,
            place.activity_id,
            ctx.attempt,
            ctx.request.repeat_of,
        )
    )
    match input.act:
        case "raise":
            raise ConnectionError(input.label)
        case "once":
            if ctx.attempt == 1:
                raise ConnectionError(input.label)
        case "wait":
            # The gate is a file: another process may open it.
            while not ctx.app.is_open(input.label):  # noqa: ASYNC110 - nothing else tells
                await asyncio.sleep(0.01)
        case "return":
            pass
    return Receipt(label=input.label, key=ctx.idempotency_key)


transfer = capability(
    "pay.transfer",
    description="Move money. Nothing deduplicates it.",
    expose={"workflow", "agent", "direct"},
    side_effect="write",
    risk="high",
    approval=Approval(type="manager", reason="Money leaves the house."),
    redact=CARD,
    timeout=SHORT,
)(pay)

charge = capability(
    "pay.charge",
    description="Take money at a gateway that takes each key once.",
    expose={"workflow", "agent", "direct"},
    side_effect="write",
    risk="high",
    idempotent=True,
    retry=Retry(max_retries=2, backoff=timedelta(milliseconds=10)),
    approval=Approval(),
    redact=CARD,
    timeout=SHORT,
)(pay)

hasty = capability(
    "pay.hasty",
    description="Move money, if somebody says so soon.",
    expose={"workflow", "agent", "direct"},
    side_effect="write",
    risk="critical",
    approval=Approval(expires_in=EXPIRY),
    redact=CARD,
    timeout=SHORT,
)(pay)

quick = capability(
    "pay.quick",
    description="Move money at once, so that the server soon knows that a worker has died.",
    expose={"workflow", "agent", "direct"},
    side_effect="write",
    risk="high",
    approval=Approval(),
    timeout=timedelta(milliseconds=500),
)(pay)

quick_charge = capability(
    "pay.quick_charge",
    description="The same at a gateway that takes each key once.",
    expose={"workflow", "agent", "direct"},
    side_effect="write",
    risk="high",
    idempotent=True,
    retry=Retry(max_retries=2, backoff=timedelta(milliseconds=10)),
    approval=Approval(),
    timeout=timedelta(milliseconds=500),
)(pay)

note = capability(
    "pay.note",
    description="Write something down. Nobody needs to approve it.",
    expose={"workflow", "agent", "direct"},
    side_effect="write",
    risk="low",
    timeout=SHORT,
)(pay)

CAPABILITIES = (transfer, charge, hasty, quick, quick_charge, note)


def app_of(
    books: Books,
    sinks: Sequence[Sink] = (),
    *,
    capabilities: Sequence[Capability[Any, Receipt]] = CAPABILITIES,
    policies: Sequence[Policy] = (),
    may_approve: Callable[[Actor, ApprovalRecord], bool] | None = None,
    self_approval: str | None = None,
) -> App:
    """The application that writes in these books.

    With `self_approval`, the reason why, requesters may approve their own requests.
    """

    @asynccontextmanager
    async def with_books(_: Request[object, object]) -> AsyncGenerator[Books]:
        yield books

    return App(
        Governance(capabilities, policies=policies),
        context=with_books,
        sinks=sinks,
        may_approve=may_approve,
        reject_self_approval=self_approval is None,
        self_approval_reason=self_approval,
    )
