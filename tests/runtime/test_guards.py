"""Guards that the other tests take for granted; `tests/mutations` switches each of them off."""

import logging
from typing import Any

import pytest
from pydantic import BaseModel

from temperance.runtime.call import Asked, Returned
from temperance.runtime.capability import Approval, Redact, RedactRule
from temperance.runtime.error import CapabilityError
from temperance.runtime.sink import MemorySink
from tests.runtime.asking import ask, runtime_of
from tests.runtime.attempts import (
    RETRIED,
    app_of,
    attempt,
    broken,
    handles,
    never,
    succeeds,
)
from tests.runtime.orders import Order

SECRET = "sk-planted-4711"


class Card(BaseModel):
    holder: str
    number: str | None = None


@pytest.mark.parametrize(
    ("metadata", "given"),
    [
        ({}, {"attempt": 2}),
        ({"idempotent": True}, {"attempt": 2}),
        (RETRIED, {"attempt": 4}),
        ({}, {"entered_before": True}),
    ],
)
async def test_g2_what_metadata_does_not_allow_is_refused_whoever_scheduled_it(
    metadata: dict[str, Any], given: dict[str, Any]
) -> None:
    """Over the maximum of attempts, or a first one again after the handler was entered."""
    outcome = await broken(app_of(never, **metadata), **given)
    assert (outcome.error.code, outcome.retries) == ("RETRY_FORBIDDEN", False)
    assert outcome.effect == "possible"


async def test_g2_what_is_done_is_never_tried_again() -> None:
    """Not even where the server has given up the attempt, after which a read may be tried again."""

    async def nothing() -> None: ...

    async def yes() -> bool:
        return True

    outcome = await broken(app_of(handles(nothing), **RETRIED), lost=yes)
    assert (outcome.effect, outcome.interruption, outcome.retries) == ("done", "lost", False)


async def test_g8_what_is_to_be_approved_does_not_run_before() -> None:
    outcome = await attempt(app_of(never, approval=Approval()))
    assert isinstance(outcome, Asked)


async def test_g10_the_text_of_an_exception_is_told_to_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Neither to the caller, nor to the audit; the log names its kind and its place."""
    caplog.set_level(logging.DEBUG)

    async def fails() -> None:
        raise ConnectionError(SECRET)

    sink = MemorySink()
    envelope = await ask(runtime_of(app_of(handles(fails), sinks=[sink])))

    assert envelope.status == "failed"
    assert envelope.error.message == "The operation failed."
    assert SECRET not in repr(envelope)
    assert SECRET not in "".join(event.model_dump_json() for event in sink.events)
    assert "ConnectionError at " in caplog.text
    assert SECRET not in caplog.text


def without_number(card: Card) -> Card:
    return card.model_copy(update={"number": ""})


@pytest.mark.parametrize("rule", [("number",), without_number])
async def test_g10_what_is_redacted_is_in_no_outcome(rule: RedactRule) -> None:
    """Neither in the value that callers in process get, nor in the JSON that goes to history."""

    async def handler(order: Order) -> Card:
        return Card(holder=order.order_id, number=SECRET)

    outcome = await attempt(app_of(handler, redact=Redact(output=rule)))

    assert isinstance(outcome, Returned)
    assert isinstance(outcome.output, Card)
    assert outcome.output.holder == "o-1"
    assert not outcome.output.number
    assert SECRET.encode() not in outcome.json


async def test_g11_what_the_driver_forbids_is_not_run() -> None:
    """A write that an earlier run may have begun; whoever may not ask at all is told nothing."""
    refused = {"forbidden": CapabilityError("RESET_FORBIDDEN"), "earlier_effect": "possible"}
    outcome = await broken(app_of(never), **refused)
    assert (outcome.error.code, outcome.effect) == ("RESET_FORBIDDEN", "possible")
    unseen = await broken(app_of(succeeds), **(refused | {"surface": "mcp"}))
    assert unseen.error.code == "CAPABILITY_NOT_FOUND"
