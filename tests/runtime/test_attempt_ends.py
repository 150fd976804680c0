"""How an attempt ends, and whether another one follows (G1, G2)."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import cast

import pytest
from pydantic import BaseModel, field_validator
from pydantic_core import PydanticCustomError

from temperance.runtime.call import Interruption
from temperance.runtime.capability import Redact
from temperance.runtime.error import DeclaredError
from temperance.runtime.event import TERMINAL
from tests.runtime.attempts import (
    AT_ONCE,
    RETRIED,
    Recorder,
    Slip,
    app_of,
    broken,
    handles,
    never,
    raising,
    succeeds,
    waits,
)
from tests.runtime.orders import Order


@pytest.mark.parametrize(
    ("number", "allowed", "retries"),
    [
        (1, None, True),
        (2, None, True),
        (3, None, False),
        (1, 1, False),
        (1, 2, True),
        (2, 2, False),
    ],
)
async def test_g2_a_further_attempt_follows_only_where_metadata_and_driver_agree(
    number: int, allowed: int | None, retries: bool
) -> None:
    """The last attempt has the terminal event, the ones before leave it to their successor."""

    async def fails() -> None:
        raise ConnectionError

    sink = Recorder()
    app = app_of(handles(fails), sinks=[sink], **RETRIED)
    outcome = await broken(app, attempt=number, attempts_allowed=allowed)

    assert outcome.retries is retries
    ends = [type_ for type_ in sink.types() if type_ in TERMINAL]
    assert ends == ([] if retries else ["capability.failed"])


@pytest.mark.parametrize("interruption", ["shutdown", "paused", "lost", "cancelled"])
async def test_an_attempt_that_is_interrupted_from_outside_ends_as_its_driver_says(
    interruption: Interruption,
) -> None:
    """Only the caller's cancellation is final for a read; a lost attempt has no last word."""
    ends = {
        "shutdown": ("EXECUTION_FAILED", "capability.failed"),
        "paused": ("EXECUTION_FAILED", "capability.failed"),
        "lost": ("TIMEOUT", "capability.started"),
        "cancelled": ("CANCELLED", "capability.cancelled"),
    }
    for metadata, retries in (({}, False), (RETRIED, interruption != "cancelled")):
        sink = Recorder()
        entered = asyncio.Event()
        app = app_of(waits, sinks=[sink], **metadata)
        attempt = broken(app, interruption=lambda: interruption, entered=entered.set)
        task = asyncio.ensure_future(attempt)
        await entered.wait()
        task.cancel()
        outcome = await task

        code, end = ends[interruption]
        assert (outcome.error.code, outcome.interruption) == (code, interruption)
        assert (outcome.effect, outcome.retries) == ("possible", retries)
        assert sink.types()[-1] == ("capability.started" if retries else end)


class Picky(BaseModel):
    number: str

    @field_validator("number")
    @classmethod
    def refuse(cls, value: str) -> str:
        raise PydanticCustomError("picky", "secret {value}", {"value": value})


async def gives_picky(order: Order) -> Picky:
    return Picky.model_construct(number="4711")


async def gives_large(order: Order) -> Slip:
    return Slip(number="x" * 200)


async def gives_nothing(order: Order) -> Slip:
    return cast(Slip, None)


def ends_everything(value: object) -> object:
    raise SystemExit(value)


@pytest.mark.parametrize(
    ("handler", "redact", "code"),
    [
        (gives_picky, None, "OUTPUT_INVALID"),
        (gives_nothing, None, "OUTPUT_INVALID"),
        (gives_large, None, "PAYLOAD_TOO_LARGE"),
        (succeeds, Redact(output=raising(ValueError())), "INTERNAL_ERROR"),
        (succeeds, Redact(output=ends_everything), "INTERNAL_ERROR"),
    ],
)
async def test_g2_whatever_is_wrong_with_an_output_never_causes_another_attempt(
    handler: Callable[..., object], redact: Redact | None, code: str
) -> None:
    """The handler has returned: the effect is done, and the value is told to nobody."""
    sink = Recorder()
    app = app_of(handler, sinks=[sink], redact=redact or Redact(), **RETRIED)
    outcome = await broken(app, output_limit=100)

    assert (outcome.error.code, outcome.effect, outcome.retries) == (code, "done", False)
    assert sink.types()[-1] == "capability.failed"
    assert sink.last.effect == "done"
    assert "4711" not in str(outcome.info)


async def test_a_declared_error_is_retried_only_where_it_says_so() -> None:
    async def busy() -> None:
        raise DeclaredError("Busy.", retry_after=timedelta(seconds=2))

    async def gone() -> None:
        raise DeclaredError("Gone.")

    first = await broken(app_of(handles(busy), **RETRIED))
    assert (first.retries, first.error.retry_after) == (True, timedelta(seconds=2))
    assert not (await broken(app_of(handles(gone), **RETRIED))).retries


async def test_the_driver_may_give_an_attempt_less_time_than_its_metadata() -> None:
    """Whoever scheduled it closes it then; past that moment no handler is entered."""
    short = await broken(app_of(waits), available=AT_ONCE)
    assert (short.error.code, short.effect) == ("TIMEOUT", "possible")
    none = await broken(app_of(never), available=timedelta(0))
    assert (none.error.code, none.error.stage, none.effect) == ("TIMEOUT", "controls", "none")
