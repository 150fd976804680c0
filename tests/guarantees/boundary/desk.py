"""A desk whose capabilities not every requester may see, and the application around it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from pydantic import BaseModel, Field

from temperance import (
    App,
    Approval,
    Context,
    Governance,
    MemorySink,
    Policy,
    Request,
    capability,
    deny,
    hide,
)
from temperance.runtime.decision import Decision
from tests.guarantees.boundary.ledger import Ledger


class Place(BaseModel):
    zip: str


class Note(BaseModel):
    author: str
    pages: int = Field(ge=1)
    place: Place | None = None
    tags: list[str] = []


class Kept(BaseModel):
    pages: int


# Requests of any capability.
def conceal(request: Request[Any, Any]) -> Decision:
    """Hide from everybody."""
    return hide()


def withhold(request: Request[Any, Any]) -> Decision:
    """Deny to everybody: in discovery this hides as well."""
    return deny("CLOSED", "Not today.")


def keep(input: Note, ctx: Context[Ledger]) -> Kept:
    """Note the effect."""
    ctx.app.add(input.author)
    return Kept(pages=input.pages)


@capability(
    "desk.keep",
    description="Keep a note.",
    expose={"agent", "direct"},
    side_effect="write",
    risk="low",
)
def keep_note(input: Note, ctx: Context[Ledger]) -> Kept:
    return keep(input, ctx)


@capability(
    "desk.inside",
    description="Keep a note, for workflows only.",
    expose={"workflow"},
    side_effect="write",
    risk="low",
)
def inside(input: Note, ctx: Context[Ledger]) -> Kept:
    return keep(input, ctx)


@capability(
    "desk.unlisted",
    description="Keep a note that is in no listing.",
    expose={"agent", "direct"},
    side_effect="write",
    risk="low",
    policies=[Policy(conceal, "discovery")],
)
def unlisted(input: Note, ctx: Context[Ledger]) -> Kept:
    return keep(input, ctx)


@capability(
    "desk.closed",
    description="Keep a note that no listing gives.",
    expose={"agent", "direct"},
    side_effect="write",
    risk="low",
    policies=[Policy(withhold, "discovery")],
)
def closed(input: Note, ctx: Context[Ledger]) -> Kept:
    return keep(input, ctx)


@capability(
    "desk.concealed",
    description="Keep a note that is hidden when it is asked for.",
    expose={"agent", "direct"},
    side_effect="write",
    risk="low",
    policies=[conceal],
)
def concealed(input: Note, ctx: Context[Ledger]) -> Kept:
    return keep(input, ctx)


@capability(
    "desk.signed",
    description="Keep a note that a person must sign.",
    expose={"agent", "direct"},
    side_effect="write",
    risk="high",
    approval=Approval(type="manager", reason="Notes are for ever.", expires_in=timedelta(hours=1)),
)
def signed(input: Note, ctx: Context[Ledger]) -> Kept:
    return keep(input, ctx)


def desk(ledger: Ledger, sink: MemorySink) -> App:
    """The application: handlers write in `ledger`, events go to `sink`."""

    @asynccontextmanager
    async def books(request: Request[Any, Any]) -> AsyncGenerator[Ledger]:
        yield ledger

    governance = Governance([keep_note, inside, unlisted, closed, concealed, signed])
    return App(governance, context=books, sinks=[sink])
