"""Capabilities that note each entry, take their effect, and then do as the order says."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, timedelta
from pathlib import Path

from temporalio import activity

from temperance import (
    App,
    CapabilityError,
    Context,
    DeclaredError,
    Governance,
    JsonlSink,
    Request,
    Retry,
    capability,
)
from tests.guarantees.retries.ledger import Entry, Ledger
from tests.guarantees.retries.orders import Order, Receipt

SHORT = timedelta(milliseconds=300)
SOON = timedelta(milliseconds=10)
BUSY_FOR = timedelta(milliseconds=600)
MAY_DIE = "LEDGER_WORKER_MAY_DIE"


class Declined(DeclaredError):
    reason = "DECLINED"


class Unreachable(ConnectionError):
    """What a handler raises that nobody declared."""


async def act(order: Order, ctx: Context[Ledger]) -> Receipt:
    """The part of the order that this attempt has to play."""
    match order.acts[min(ctx.attempt, len(order.acts)) - 1]:
        case "raise":
            raise Unreachable(f"{order.case} failed")
        case "refuse":
            raise Declined("No.")
        case "busy":
            raise Declined("Come again.", retry_after=BUSY_FOR)
        case "hang":
            await asyncio.Event().wait()
        case "wait":
            while not ctx.app.gate_is_open(order.case):  # noqa: ASYNC110 - another process opens it
                await asyncio.sleep(0.01)
        case "die":
            _signal_own_process(signal.SIGKILL)
        case "stop":
            _signal_own_process(signal.SIGSTOP)
        case "nap":
            _signal_own_process(signal.SIGSTOP)
            for _ in range(3):
                await asyncio.sleep(0)
        case "return":
            pass
    ctx.app.note_return(order.case, ctx.attempt)
    return Receipt(case=order.case, attempt=ctx.attempt)


def _signal_own_process(signal_number: signal.Signals) -> None:
    if MAY_DIE not in os.environ:
        raise AssertionError("this act is for a worker process only")
    os.kill(os.getpid(), signal_number)


async def note_entry(order: Order, ctx: Context[Ledger]) -> None:
    """Write into the ledger that the handler was entered."""
    waited = await _waited() if activity.in_activity() and ctx.attempt > 1 else None
    entry = Entry(
        order.case, ctx.attempt, ctx.execution_id, ctx.idempotency_key, os.getpid(), waited
    )
    ctx.app.note_entry(entry)


async def _waited() -> timedelta | None:
    """The delay before this attempt, by what the server recorded."""
    info = activity.info()
    handle = activity.client().get_workflow_handle(str(info.workflow_id))
    for pending in (await handle.describe()).raw_description.pending_activities:
        if pending.activity_id == info.activity_id:
            ended = pending.last_attempt_complete_time.ToDatetime(UTC)
            return info.current_attempt_scheduled_time - ended
    return None


async def take_effect(input: Order, ctx: Context[Ledger]) -> Receipt:
    await note_entry(input, ctx)
    ctx.app.take_effect(input.case, ctx.idempotency_key)
    return await act(input, ctx)


async def charge_once(input: Order, ctx: Context[Ledger]) -> Receipt:
    await note_entry(input, ctx)
    ctx.app.charge(input.case, ctx.idempotency_key)
    return await act(input, ctx)


async def look_up(input: Order, ctx: Context[Ledger]) -> Receipt:
    await note_entry(input, ctx)
    return await act(input, ctx)


write = capability(
    "desk.write",
    description="An effect that nothing deduplicates.",
    expose={"workflow"},
    side_effect="write",
    risk="high",
    timeout=SHORT,
)(take_effect)

patient_write = capability(
    "desk.patient_write",
    description="The same, with time enough for a server to be started again.",
    expose={"workflow"},
    side_effect="write",
    risk="high",
)(take_effect)

charge = capability(
    "desk.charge",
    description="An effect at a gateway that takes each key once.",
    expose={"workflow"},
    side_effect="write",
    risk="high",
    idempotent=True,
    retry=Retry(max_retries=2, backoff=SOON),
    timeout=SHORT,
)(charge_once)

read = capability(
    "desk.read",
    description="A read that is tried three times, with the default backoff.",
    expose={"workflow"},
    side_effect="read",
    risk="low",
    retry=Retry(max_retries=2),
    timeout=SHORT,
)(look_up)

read_once = capability(
    "desk.read_once",
    description="A read without retry.",
    expose={"workflow"},
    side_effect="read",
    risk="low",
    timeout=SHORT,
)(look_up)

picky_read = capability(
    "desk.picky_read",
    description="A read that is tried again after a certain kind of exception only.",
    expose={"workflow"},
    side_effect="read",
    risk="low",
    retry=Retry(max_retries=2, backoff=SOON, on=(TimeoutError,)),
    timeout=SHORT,
)(look_up)


def _not_after_a_timeout(error: CapabilityError) -> bool:
    return error.code != "TIMEOUT"


wary_read = capability(
    "desk.wary_read",
    description="A read whose predicate vetoes a retry after a timeout.",
    expose={"workflow"},
    side_effect="read",
    risk="low",
    retry=Retry(max_retries=2, backoff=SOON, on=_not_after_a_timeout),
    timeout=SHORT,
)(look_up)

CAPABILITIES = (write, patient_write, charge, read, read_once, picky_read, wary_read)


def app_in(folder: Path) -> App:
    """The application whose ledger and audit trail are in `folder`."""
    ledger = Ledger(folder)

    @asynccontextmanager
    async def with_ledger(_: Request[object, object]) -> AsyncGenerator[Ledger]:
        yield ledger

    return App(Governance(CAPABILITIES), context=with_ledger, sinks=[JsonlSink(ledger.audit_path)])
