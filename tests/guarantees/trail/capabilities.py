"""Capabilities that end in whichever way their input says."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, cast

from pydantic import BaseModel

from temperance import (
    App,
    Context,
    DeclaredError,
    Governance,
    Policy,
    Request,
    Retry,
    allow,
    capability,
    deny,
    hide,
    require_approval,
)
from temperance.runtime.decision import Decision
from temperance.runtime.sink import Sink

SECRET = "4711-secret"


class Wish(BaseModel):
    """How it is to end: one word an attempt, the last one also for all after it."""

    ends: tuple[str, ...]
    card: str = SECRET


class Grant(BaseModel):
    card: str


class Closed(DeclaredError):
    reason = "CLOSED"


def rule(request: Request[Any, Any]) -> Decision:
    """A policy for invocation."""
    match request.input.ends[0]:
        case "deny":
            return deny("NO", "No.")
        case "hide":
            return hide()
        case "ask":
            return require_approval("It costs.")
        case "break":
            raise KeyError(SECRET)
        case _:
            return allow()


def conceal(request: Request[Any, Any]) -> Decision:
    """A policy for discovery."""
    return hide()


def late_rule(request: Request[Any, Any]) -> Decision:
    """A policy for execution."""
    return deny("LATE", "Too late.") if request.input.ends[0] == "deny late" else allow()


async def end(wish: Wish, ctx: Context[None]) -> Grant:
    match wish.ends[min(ctx.attempt, len(wish.ends)) - 1]:
        case "raise":
            raise ConnectionError(SECRET)
        case "declare":
            raise Closed("Closed.")
        case "time out":
            await asyncio.Event().wait()
        case "misfit":
            return cast(Grant, {"card": 7})
        case _:
            pass
    return Grant(card=wish.card)


SHORT = timedelta(milliseconds=200)


@capability(
    "trail.read",
    description="Read, up to three times.",
    expose={"agent"},
    side_effect="read",
    risk="low",
    timeout=SHORT,
    retry=Retry(max_retries=2, backoff=timedelta(milliseconds=5)),
)
async def read(wish: Wish, ctx: Context[None]) -> Grant:
    return await end(wish, ctx)


@capability(
    "trail.write",
    description="Write.",
    expose={"agent"},
    side_effect="write",
    risk="high",
    timeout=SHORT,
)
async def write(wish: Wish, ctx: Context[None]) -> Grant:
    return await end(wish, ctx)


@capability(
    "trail.patient_read",
    description="Read, and again an hour later.",
    expose={"agent"},
    side_effect="read",
    risk="low",
    retry=Retry(max_retries=1, backoff=timedelta(hours=1)),
)
async def patient_read(wish: Wish, ctx: Context[None]) -> Grant:
    return await end(wish, ctx)


@capability(
    "trail.inside",
    description="For workflows only.",
    expose={"workflow"},
    side_effect="write",
    risk="low",
)
async def inside(wish: Wish, ctx: Context[None]) -> Grant:
    return await end(wish, ctx)


@capability(
    "trail.unlisted",
    description="Listed to nobody.",
    expose={"agent"},
    side_effect="write",
    risk="low",
    policies=[Policy(conceal, "discovery")],
)
async def unlisted(wish: Wish, ctx: Context[None]) -> Grant:
    return await end(wish, ctx)


def app_with(sinks: Sequence[Sink], *, strict_audit: bool = False) -> App:
    """The application, with these sinks."""
    governance = Governance(
        [read, write, patient_read, inside, unlisted],
        policies=[rule, Policy(late_rule, "execution")],
    )
    return App(governance, sinks=sinks, strict_audit=strict_audit, payload_limit=2048)
