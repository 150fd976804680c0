"""Capabilities that write in the books of a test, and the application that serves them."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

from temperance import (
    App,
    Approval,
    Context,
    DeclaredError,
    Governance,
    Policy,
    Request,
    Retry,
    capability,
)
from temperance.runtime.sink import Sink
from tests.guarantees.runs.books import Books, Entry
from tests.guarantees.runs.jobs import Job, Receipt

SHORT = timedelta(seconds=5)


class Declined(DeclaredError):
    """What a handler raises to say no, after it was entered."""

    reason = "DECLINED"


async def do(input: Job, ctx: Context[Books]) -> Receipt:
    """Note the entry, then play the act."""
    workflow = ctx.request.workflow
    if workflow is None:
        raise AssertionError("these handlers are called by workflows")
    ctx.app.enter(
        Entry(
            input.label,
            ctx.idempotency_key,
            ctx.execution_id,
            workflow.run_id,
            workflow.activity_id,
            ctx.attempt,
            ctx.request.repeat_of,
        )
    )
    match input.act:
        case "raise":
            raise ConnectionError(input.label)
        case "decline":
            raise Declined("No.")
        case "wait":
            # The gate is a file: another process may open it.
            while not ctx.app.is_open(input.label):  # noqa: ASYNC110 - nothing else tells
                await asyncio.sleep(0.01)
        case "huge":
            return Receipt(label="x" * 3_000_000, key=ctx.idempotency_key)
        case "return":
            pass
    return Receipt(label=input.label, key=ctx.idempotency_key)


write = capability(
    "runs.write",
    description="An effect that nothing deduplicates.",
    expose={"workflow"},
    side_effect="write",
    risk="high",
    timeout=SHORT,
)(do)

brief_write = capability(
    "runs.brief_write",
    description="One that must be quick, and so must whatever comes before it.",
    expose={"workflow"},
    side_effect="write",
    risk="high",
    timeout=timedelta(milliseconds=300),
)(do)

other_write = capability(
    "runs.other_write",
    description="Another one.",
    expose={"workflow"},
    side_effect="destructive",
    risk="high",
    timeout=SHORT,
)(do)

queued_write = capability(
    "runs.queued_write",
    description="One that may not wait long for a worker.",
    expose={"workflow"},
    side_effect="external",
    risk="high",
    timeout=SHORT,
    queue_timeout=timedelta(milliseconds=300),
)(do)

unexposed_write = capability(
    "runs.unexposed_write",
    description="One that workflows may not ask for.",
    expose={"direct"},
    side_effect="write",
    risk="high",
)(do)

approved_write = capability(
    "runs.approved_write",
    description="One that a person must approve.",
    expose={"workflow"},
    side_effect="write",
    risk="high",
    approval=Approval(),
)(do)

charge = capability(
    "runs.charge",
    description="An effect at a gateway that takes each key once.",
    expose={"workflow"},
    side_effect="write",
    risk="high",
    idempotent=True,
    timeout=SHORT,
)(do)

read = capability(
    "runs.read",
    description="A read that is tried twice.",
    expose={"workflow"},
    side_effect="read",
    risk="low",
    retry=Retry(max_retries=1, backoff=timedelta(milliseconds=10)),
    timeout=SHORT,
)(do)

CAPABILITIES = (
    write,
    brief_write,
    other_write,
    queued_write,
    unexposed_write,
    approved_write,
    charge,
    read,
)


def app_of(
    books: Books,
    sinks: Sequence[Sink] = (),
    *,
    policies: Sequence[Policy] = (),
    without: str | None = None,
) -> App:
    """The application that writes in these books, perhaps without one of its capabilities."""

    @asynccontextmanager
    async def with_books(_: Request[object, object]) -> AsyncGenerator[Books]:
        yield books

    served = [entry for entry in CAPABILITIES if entry.id != without]
    return App(Governance(served, policies=policies), context=with_books, sinks=sinks)
