"""Which ends are asked about, what an answer makes of them, and what may be declared (G1, G2)."""

from datetime import timedelta
from typing import Any, cast

import pytest

from temperance import (
    Actor,
    Cancelled,
    CapabilityRegistry,
    Completed,
    Failed,
    Reconcile,
    RegistryError,
    Retry,
    capability,
    unknown,
)
from temperance.runtime.error import CapabilityError, ErrorCode
from temperance.runtime.messages import Ask, Settlement
from temperance.runtime.names import SIDE_EFFECTS, WRITE_LIKE, Effect, SideEffect
from temperance.runtime.reconcile import is_open, may_run_again, settle
from temperance.runtime.series import Series
from tests.runtime.attempts import Slip
from tests.runtime.orders import Order

ADA = Actor(id="ada")


def failed(code: ErrorCode = "TIMEOUT", effect: Effect = "possible", **more: Any) -> Failed:
    """How an execution ended."""
    error = CapabilityError(code).public().model_copy(update=more)
    return Failed(
        execution_id="e", capability="a.b", attempts=2, errors=("X",), effect=effect, error=error
    )


@pytest.mark.parametrize("side_effect", SIDE_EFFECTS)
def test_g2_only_a_write_that_was_entered_is_asked_about(side_effect: SideEffect) -> None:
    assert is_open(side_effect, failed()) == (side_effect in WRITE_LIKE)
    assert not is_open(side_effect, failed(effect="none"))
    assert not is_open(side_effect, failed("OUTPUT_INVALID", effect="done"))


def test_g2_neither_a_cancelled_write_nor_one_of_another_input_is_asked_about() -> None:
    error = CapabilityError("CANCELLED").public()
    cancelled = Cancelled(execution_id="e", capability="a.b", effect="possible", error=error)
    assert not is_open("write", cancelled)
    assert not is_open("write", failed("STEP_INPUT_MISMATCH"))
    assert is_open("write", failed("RESET_FORBIDDEN"))


def test_g1_an_answer_settles_the_envelope_and_loses_nothing_of_it() -> None:
    happened = settle(failed(), "happened", 7)
    assert isinstance(happened, Completed)
    assert (happened.output, happened.effect, happened.attempts) == (7, "done", 2)
    assert (happened.errors, happened.reconciled) == (("X", "TIMEOUT"), "happened")
    absent = settle(failed(), "did_not_happen")
    assert isinstance(absent, Failed)
    assert (absent.code, absent.effect, absent.errors) == ("TIMEOUT", "none", ("X",))
    assert settle(failed(), "unknown").effect == "possible"


def test_g2_a_declared_error_is_an_answer_and_the_second_series_is_the_last() -> None:
    assert may_run_again(failed().error, 1)
    assert not may_run_again(failed().error, 2)
    assert not may_run_again(failed(reason="DECLINED").error, 1)


def test_a_settlement_and_a_series_travel_unchanged() -> None:
    for settlement in (
        Settlement("happened", b'{"a":1}'),
        Settlement("did_not_happen", b"null", "e-1"),
        Settlement("unknown"),
    ):
        assert Settlement.from_json(settlement.to_json()) == settlement
    for series in (Series("s", 2, 3, ("A", "B")), Series("s", 1, 1, (), "run")):
        ask = Ask(ADA, "agent", series=series)
        assert Ask.from_json(ask.to_json()) == ask


@pytest.mark.parametrize("wire", [b"[]", b"{}", b'{"verdict":"perhaps"}', b"\xff"])
def test_what_is_no_settlement_is_refused(wire: bytes) -> None:
    with pytest.raises(ValueError, match="the answer"):
        Settlement.from_json(wire)


@pytest.mark.parametrize(
    "wire",
    [
        b'{"step":"s","number":0,"attempts":1}',
        b'{"step":"","number":1,"attempts":1}',
        b'{"number":1,"attempts":1}',
        b'{"step":"s","number":1,"attempts":-1}',
    ],
)
def test_what_is_no_series_is_refused(wire: bytes) -> None:
    with pytest.raises(ValueError, match="series"):
        Ask.from_json(b'["agent - user:ada",{"series":' + wire + b"}]")


async def handler(input: Order) -> Slip:
    """A write."""
    raise NotImplementedError


def cannot_tell(input: Order) -> object:
    """Answers that it cannot tell."""
    del input
    return unknown()


def ask_nothing() -> None:
    """Takes no input."""


@pytest.mark.parametrize(
    ("side_effect", "reconcile", "problem"),
    [
        ("read", cannot_tell, "leaves nothing unknown"),
        ("write", 42, "Reconcile.function"),
        ("write", ask_nothing, "cannot be called with an input"),
        ("write", Reconcile(cannot_tell, run_again=cast(bool, "yes")), "run_again"),
    ],
)
def test_what_cannot_be_declared_is_refused_when_the_registry_is_built(
    side_effect: SideEffect, reconcile: Any, problem: str
) -> None:
    with pytest.raises((RegistryError, TypeError), match=problem):
        CapabilityRegistry(
            [
                capability(
                    "a.b",
                    description="A write.",
                    expose={"workflow"},
                    side_effect=side_effect,
                    risk="low",
                    reconcile=reconcile,
                )(handler)
            ]
        )


def test_a_reconcile_that_cannot_be_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="more than zero"):
        Reconcile(handler, timeout=timedelta(0))
    with pytest.raises(TypeError, match="function"):
        Reconcile(cast(Any, "find"))
    with pytest.raises(TypeError, match="Retry"):
        Reconcile(handler, retry=cast(Retry, 3))
