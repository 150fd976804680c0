"""What an attempt refuses: no handler, one code, one terminal event (G8)."""

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel, ValidationInfo, field_validator

from temperance.runtime.decision import Decision, allow, deny, hide
from temperance.runtime.error import CapabilityError
from temperance.runtime.request import Request
from tests.runtime.attempts import (
    Recorder,
    Slip,
    app_of,
    broken,
    giving,
    never,
    raising,
)

REFUSALS: dict[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "unknown": ({}, {"capability_id": "orders.nothing"}, "CAPABILITY_NOT_FOUND", "denied"),
    "unexposed": ({}, {"surface": "mcp"}, "CAPABILITY_NOT_FOUND", "denied"),
    "unlisted": ({"policies": [giving(hide(), "discovery")]}, {}, "CAPABILITY_NOT_FOUND", "denied"),
    "invalid": ({}, {"raw": {"order_id": 7}}, "INPUT_INVALID", "failed"),
    "no JSON": ({}, {"raw": b"{"}, "INPUT_INVALID", "failed"),
    "nobody": ({}, {"actor": None}, "UNAUTHENTICATED", "denied"),
    "denied": ({"policies": [giving(deny("NO", "No."))]}, {}, "POLICY_DENIED", "denied"),
    "hidden": ({"policies": [giving(hide())]}, {}, "CAPABILITY_NOT_FOUND", "denied"),
    "broken": ({"policies": [raising(KeyError())]}, {}, "POLICY_FAILED", "denied"),
    "late": ({"policies": [giving(deny("NO", "No."), "execution")]}, {}, "POLICY_DENIED", "denied"),
    "retry": ({}, {"attempt": 2}, "RETRY_FORBIDDEN", "failed"),
    "entered": ({}, {"entered_before": True}, "RETRY_FORBIDDEN", "failed"),
    "forbidden": (
        {},
        {"forbidden": CapabilityError("RESET_FORBIDDEN"), "earlier_effect": "possible"},
        "RESET_FORBIDDEN",
        "failed",
    ),
}


@pytest.mark.parametrize("why", REFUSALS)
async def test_g8_what_is_refused_never_enters_the_handler_and_ends_once(why: str) -> None:
    """Each refusal has its code, one terminal event, and no `capability.started`."""
    metadata, fields, code, end = REFUSALS[why]
    sink = Recorder()
    outcome = await broken(app_of(never, sinks=[sink], **metadata), **fields)

    assert (outcome.error.code, outcome.retries) == (code, False)
    assert outcome.effect == ("possible" if why in {"retry", "entered", "forbidden"} else "none")
    assert sink.types()[1:] == [f"capability.{end}"]
    assert (sink.last.error_code, sink.last.effect) == (code, outcome.effect)


@pytest.mark.parametrize("how", ["raises", "swallows"])
async def test_g8_a_cancellation_during_a_policy_ends_the_attempt_there(how: str) -> None:
    """Also where the policy swallows it and allows: nothing is entered, effect none."""
    started = asyncio.Event()

    async def rule(request: Request[Any, Any]) -> Decision:
        try:
            started.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if how == "raises":
                raise
        return allow()

    sink = Recorder()
    task = asyncio.ensure_future(broken(app_of(never, sinks=[sink], policies=[rule])))
    await started.wait()
    task.cancel()
    outcome = await task

    assert (outcome.error.code, outcome.effect) == ("CANCELLED", "none")
    assert sink.types() == ["capability.requested", "capability.cancelled"]


def odd(value: object) -> object:
    raise SystemExit(value)


class Odd(BaseModel):
    order_id: str

    @field_validator("order_id", mode="before")
    @classmethod
    def refuse(cls, value: object, info: ValidationInfo) -> object:
        return odd(value)


async def takes_odd(order: Odd) -> Slip:
    raise AssertionError


async def test_g1_a_fault_that_nobody_foresaw_ends_the_attempt_and_nothing_else() -> None:
    """A validator that would end the process: INTERNAL_ERROR, one terminal event."""
    sink = Recorder()
    outcome = await broken(app_of(takes_odd, sinks=[sink]))
    assert (outcome.error.code, outcome.effect) == ("INTERNAL_ERROR", "none")
    assert sink.types() == ["capability.requested", "capability.failed"]
