"""Capabilities that are answered with far too much text."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final, cast

from pydantic import BaseModel

from temperance import (
    App,
    CapabilityError,
    Context,
    DeclaredError,
    Governance,
    MemorySink,
    Request,
    capability,
    deny,
    require_approval,
)
from temperance.runtime.decision import Decision
from tests.guarantees.boundary.ledger import Ledger

MUCH: Final = "m" * 3_000_000


class Wordy(DeclaredError):
    reason = MUCH


class Wrong(DeclaredError):
    reason = cast(str, 7)


class Said(BaseModel):
    how: str


def say(how: str) -> BaseException:
    """What the handler raises."""
    match how:
        case "reason":
            return Wordy("No.")
        case "message":
            return DeclaredError(MUCH)
        case "details":
            return DeclaredError("No.", details=MUCH)
        case "wrong reason":
            return Wrong("No.")
        case "wrong message":
            return CapabilityError("FORBIDDEN", cast(str, 7))
        case _:
            return CapabilityError("FORBIDDEN", reason=MUCH, details=MUCH)


# Requests of any capability.
def deny_at_length(request: Request[Any, Any]) -> Decision:
    return deny(MUCH, MUCH)


def ask_at_length(request: Request[Any, Any]) -> Decision:
    return require_approval(MUCH, type=MUCH)


@capability(
    "verbose.handler", description="Say.", expose={"agent"}, side_effect="external", risk="low"
)
def handler(input: Said, ctx: Context[Ledger]) -> None:
    ctx.app.add(input.how)
    raise say(input.how)


@capability(
    "verbose.denied",
    description="Say.",
    expose={"agent"},
    side_effect="write",
    risk="low",
    policies=[deny_at_length],
)
def denied(input: Said, ctx: Context[Ledger]) -> None:
    ctx.app.add(input.how)


@capability(
    "verbose.asked",
    description="Say.",
    expose={"agent"},
    side_effect="write",
    risk="low",
    policies=[ask_at_length],
)
def asked(input: Said, ctx: Context[Ledger]) -> None:
    ctx.app.add(input.how)


def verbose(ledger: Ledger, sink: MemorySink) -> App:
    """The application: handlers write in `ledger`, events go to `sink`."""

    @asynccontextmanager
    async def books(request: Request[Any, Any]) -> AsyncGenerator[Ledger]:
        yield ledger

    return App(Governance([handler, denied, asked]), context=books, sinks=[sink])
