"""The capabilities of a chaos run. Each handler notes what it does, then meets its fate."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

from temperance import App, Approval, Context, Governance, Request, Retry, capability
from temperance.runtime.sink import Sink
from tests.chaos.jobs import Fate, Job, Receipt, fate_of
from tests.chaos.ledger import Ledger, Row

SHORT = timedelta(milliseconds=400)
LONG = timedelta(seconds=8)
"""With this the server expects heartbeats, every ten seconds at least."""

HANG = 0.7
"""Seconds; longer than SHORT, shorter than what the server waits for."""

AGAIN = Retry(max_retries=5, backoff=timedelta(milliseconds=50))


def _row(job: Job, ctx: Context[Ledger]) -> Row:
    where = ctx.request.workflow
    if where is None:
        raise AssertionError("these handlers run on workers")
    return Row(
        phase="entered",
        key=ctx.idempotency_key,
        execution_id=ctx.execution_id,
        capability=ctx.request.capability.id,
        workflow_id=where.workflow_id,
        run_id=where.run_id,
        activity_id=where.activity_id,
        attempt=ctx.attempt,
        job=job.n,
    )


def _enter(job: Job, ctx: Context[Ledger]) -> Fate:
    fate = fate_of(job, ctx.attempt)
    ctx.app.write(_row(job, ctx))
    if fate == "die_before":
        os._exit(9)
    if fate == "raise_before":
        raise ConnectionError("before the effect")
    return fate


def _take_effect(job: Job, ctx: Context[Ledger], fate: Fate) -> Receipt:
    ctx.app.write(replace(_row(job, ctx), phase="effect"), die_before_commit=fate == "die_inside")
    if fate == "die_after":
        os._exit(9)
    if fate == "raise_after":
        raise ConnectionError("after the effect")
    return Receipt(n=job.n, key=ctx.idempotency_key, attempt=ctx.attempt)


async def run(input: Job, ctx: Context[Ledger]) -> Receipt:
    """As a coroutine: it can be stopped while it hangs."""
    fate = _enter(input, ctx)
    if fate == "hang":
        await asyncio.sleep(HANG)
    return _take_effect(input, ctx, fate)


def run_in_thread(input: Job, ctx: Context[Ledger]) -> Receipt:
    """In a thread: it cannot be stopped, and takes its effect late."""
    fate = _enter(input, ctx)
    if fate == "hang":
        time.sleep(HANG)
    return _take_effect(input, ctx, fate)


_READ = "Read something."

read = capability(
    "chaos.read",
    description=_READ,
    expose={"workflow", "direct"},
    side_effect="read",
    risk="low",
    retry=AGAIN,
    timeout=SHORT,
)(run)

changed_read = capability(
    "chaos.read",
    description=f"{_READ} As an older build said it.",
    expose={"workflow", "direct"},
    side_effect="read",
    risk="medium",
    retry=AGAIN,
    timeout=SHORT,
)(run)

charge = capability(
    "chaos.charge",
    description="An effect at a gateway that takes each key once.",
    expose={"workflow", "direct"},
    side_effect="external",
    risk="high",
    idempotent=True,
    retry=AGAIN,
    timeout=SHORT,
)(run)

write = capability(
    "chaos.write",
    description="An effect that nothing deduplicates.",
    expose={"workflow", "direct"},
    side_effect="write",
    risk="high",
    timeout=SHORT,
)(run)

blocking = capability(
    "chaos.blocking",
    description="One in a thread.",
    expose={"workflow", "direct"},
    side_effect="destructive",
    risk="high",
    timeout=SHORT,
)(run_in_thread)

gated = capability(
    "chaos.gated",
    description="One that a person must approve.",
    expose={"workflow", "direct"},
    side_effect="write",
    risk="critical",
    approval=Approval(expires_in=timedelta(minutes=30)),
    timeout=SHORT,
)(run)

patient = capability(
    "chaos.patient",
    description="One that may take long, so that the server is told that it goes on.",
    expose={"workflow", "direct"},
    side_effect="external",
    risk="high",
    timeout=LONG,
)(run)

NEW = (read, charge, write, blocking, gated, patient)
OLD = (changed_read, charge, write, gated, patient)
"""An older build: it lacks one capability, and describes another one otherwise."""


def app_of(ledger: Ledger, sinks: Sequence[Sink] = (), *, old: bool = False) -> App:
    """The application that writes in this ledger, as the newer or the older build has it."""

    @asynccontextmanager
    async def with_ledger(_: Request[object, object]) -> AsyncGenerator[Ledger]:
        yield ledger

    return App(Governance(OLD if old else NEW), context=with_ledger, sinks=sinks)
