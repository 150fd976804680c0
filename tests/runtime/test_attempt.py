"""One attempt: its stages in their order, from the start each time (G8)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel, field_validator, model_validator

from temperance.runtime.call import Asked, Returned
from temperance.runtime.capability import Approval, Redact
from temperance.runtime.context import Context
from temperance.runtime.decision import Decision, allow, deny, require_approval
from temperance.runtime.event import Event
from temperance.runtime.middleware import Proceed
from temperance.runtime.policy import PHASES, Phase, Policy
from temperance.runtime.request import Request
from tests.runtime.attempts import (
    RETRIED,
    Recorder,
    Slip,
    app_of,
    attempt,
    broken,
    giving,
    never,
)

NOTES: list[str] = []


class Noted(BaseModel):
    order_id: str

    @field_validator("order_id")
    @classmethod
    def note(cls, value: str) -> str:
        NOTES.append("input validated")
        return value


class NotedSlip(BaseModel):
    number: str
    secret: str | None = None

    @model_validator(mode="after")
    def note(self) -> "NotedSlip":
        NOTES.append("output validated")
        return self


def noting(phase: Phase) -> Policy:
    def rule(request: Request[Any, Any]) -> Decision:
        NOTES.append(f"{phase} policy")
        return allow()

    return Policy(rule, phase)


class NotingSink(Recorder):
    def record(self, event: Event) -> None:
        NOTES.append(event.type)
        super().record(event)


def redacted(slip: NotedSlip) -> NotedSlip:
    NOTES.append("redacted")
    return slip.model_copy(update={"secret": None})


async def handler_that_notes(order: Noted, ctx: Context[str]) -> NotedSlip:
    NOTES.append(f"handler with {ctx.app}")
    return NotedSlip(number=order.order_id, secret="4711")


async def middleware_that_notes(ctx: Context[str], proceed: Proceed) -> object:
    NOTES.append("middleware before")
    output = await proceed()
    NOTES.append("middleware after")
    return output


@asynccontextmanager
async def context_that_notes(request: Request[Any, Any]) -> AsyncGenerator[str]:
    NOTES.append("context opened")
    yield "the shop"
    NOTES.append("context closed")


def once_each(notes: list[str]) -> list[str]:
    """Without the repeats in a row: a value may be validated more than once in its stage."""
    return [note for i, note in enumerate(notes) if i == 0 or notes[i - 1] != note]


async def test_the_stages_come_in_the_order_of_the_design() -> None:
    """What is hidden is not even validated; nothing is entered before all have had their say."""
    NOTES.clear()
    app = app_of(
        handler_that_notes,
        sinks=[NotingSink()],
        context=context_that_notes,
        policies=[noting(phase) for phase in PHASES],
        middleware=[middleware_that_notes],
        redact=Redact(output=redacted),
    )

    outcome = await attempt(app)

    assert isinstance(outcome, Returned)
    assert outcome.json == b'{"number":"o-1","secret":null}'
    notes = once_each(NOTES)
    redaction = notes.index("redacted")
    assert [note for note in notes[:redaction] if note != "output validated"] == [
        "capability.requested",
        "discovery policy",
        "input validated",
        "invocation policy",
        "execution policy",
        "capability.started",
        "context opened",
        "middleware before",
        "handler with the shop",
        "middleware after",
        "context closed",
    ]
    assert notes[redaction:] == ["redacted", "output validated", "capability.completed"]


@pytest.mark.parametrize("number", [1, 2, 3])
async def test_g8_every_attempt_runs_the_stages_from_the_start(number: int) -> None:
    """A later attempt does not trust that an earlier one was admitted."""
    asked: list[str] = []

    def rule(request: Request[Any, Any]) -> Decision:
        asked.append(f"attempt {request.attempt}")
        return deny("CLOSED", "Not today.")

    outcome = await broken(app_of(never, policies=[rule], **RETRIED), attempt=number)
    assert (outcome.error.code, outcome.effect, outcome.retries) == ("POLICY_DENIED", "none", False)
    assert asked == [f"attempt {number}"]


async def test_what_needs_an_approval_asks_for_it_and_runs_nothing() -> None:
    """The demands of metadata and policies are one: all reasons, the least expiry."""
    sink = Recorder()
    app = app_of(
        never,
        sinks=[sink],
        approval=Approval(reason="It costs."),
        policies=[
            giving(require_approval("It is late.", type="manager", expires_in=timedelta(minutes=1)))
        ],
    )
    outcome = await attempt(app)

    assert isinstance(outcome, Asked)
    assert outcome.reasons == ("It costs.", "It is late.")
    assert outcome.types == ("manager",)
    assert sink.types() == ["capability.requested", "capability.approval_requested"]
    assert sink.last.reasons == outcome.reasons


async def test_middleware_that_answers_in_the_handlers_place_has_no_effect() -> None:
    async def answers(ctx: Context[Any], proceed: Proceed) -> object:
        return Slip(number="from the cache")

    outcome = await attempt(app_of(never, middleware=[answers]))
    assert isinstance(outcome, Returned)
    assert (outcome.output, outcome.effect) == (Slip(number="from the cache"), "none")
