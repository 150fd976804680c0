"""Which ends are asked about, what an answer makes of them, and what may be declared (G1, G2)."""

from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import product
from typing import Any, cast, get_args

import pytest

from temperance import (
    Actor,
    Cancelled,
    Capability,
    CapabilityRegistry,
    Completed,
    Context,
    Failed,
    Happened,
    Reconcile,
    RegistryError,
    Retry,
    Unknown,
    capability,
    unknown,
)
from temperance.runtime.error import CODES, CapabilityError, ErrorCode
from temperance.runtime.messages import Ask, Settlement
from temperance.runtime.names import SIDE_EFFECTS, WRITE_LIKE, Effect, SideEffect, Verdict
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


ENDS = tuple(product(SIDE_EFFECTS, get_args(Effect), CODES))


@pytest.mark.parametrize("verdict", get_args(Verdict))
def test_g1_whatever_the_end_and_the_answer_the_envelope_says_what_is_known(
    verdict: Verdict,
) -> None:
    """Every end with every answer: no effect is made up, none is lost, and nothing runs twice."""
    for side_effect, effect, code in ENDS:
        before = failed(code, effect)
        asked = side_effect in WRITE_LIKE and effect == "possible" and "MISMATCH" not in code
        assert is_open(side_effect, before) == asked or code == "APPROVAL_INPUT_MISMATCH"
        if not is_open(side_effect, before):
            continue
        after = settle(before, verdict, output=1)
        assert after.reconciled == verdict
        assert (after.execution_id, after.attempts) == (before.execution_id, before.attempts)
        assert (after.effect == "done") == (verdict == "happened") == isinstance(after, Completed)
        assert (after.effect == "none") == (verdict == "did_not_happen")
        codes = (*after.errors, after.code) if isinstance(after, Failed) else after.errors
        assert codes == (*before.errors, code)
        # Settled, it is settled: only what is still unknown is open.
        assert is_open(side_effect, after) == (verdict == "unknown")


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


async def find(input: Order) -> Happened[Slip] | Unknown:
    """A read."""
    raise NotImplementedError


async def asked(input: Order, ctx: Context[Any]) -> Unknown:
    """Takes a context."""
    raise NotImplementedError


def of_nothing() -> Unknown:
    """Takes no input."""
    raise NotImplementedError


def of_three(input: Order, ctx: Context[Any], third: int = 3) -> Unknown:
    """Takes more than there is."""
    raise NotImplementedError


def of_a_keyword(input: Order, *, key: str) -> Unknown:
    """Requires what nobody gives."""
    raise NotImplementedError


async def generated(input: Order) -> AsyncIterator[Unknown]:
    """Yields its answer."""
    yield unknown()


class Finder:
    """Is called, and no function: nobody can tell whether it is to be awaited."""

    async def __call__(self, input: Order) -> Unknown:
        """An answer."""
        return unknown()

    async def method(self, input: Order) -> Unknown:
        """An answer."""
        return unknown()


def problems(reconcile: object, side_effect: SideEffect = "write") -> str:
    """What a registry says of a capability that declares this."""
    declared: Any = {"reconcile": reconcile, "side_effect": side_effect, "risk": "low"}
    try:
        entry: Capability[Any, Any] = capability(
            "a.b", description="A write.", expose={"workflow"}, **declared
        )(handler)
        CapabilityRegistry([entry])
    except (RegistryError, TypeError) as error:
        return str(error)
    return ""


@pytest.mark.parametrize("reconcile", [find, asked, Finder().method, Reconcile(find)])
def test_a_function_or_method_of_the_input_may_be_declared(reconcile: object) -> None:
    assert problems(reconcile) == ""


@pytest.mark.parametrize(
    ("reconcile", "problem"),
    [
        (42, "Reconcile.function"),
        (of_nothing, "its reconcile takes 0 positional parameters"),
        (of_three, "its reconcile takes 3 positional parameters"),
        (of_a_keyword, "its reconcile requires the keyword key"),
        (generated, "its reconcile is a generator"),
        (Finder(), "its reconcile is not a function"),
        (Reconcile(find, run_again=cast(bool, "yes")), "run_again is 'yes'"),
        (Reconcile(find, timeout=timedelta(days=31)), "at most 30 days"),
    ],
)
def test_what_cannot_be_declared_is_refused_when_the_registry_is_built(
    reconcile: object, problem: str
) -> None:
    assert problem in problems(reconcile)


@pytest.mark.parametrize("side_effect", SIDE_EFFECTS)
def test_g2_only_of_writes_may_it_be_declared(side_effect: SideEffect) -> None:
    assert ("leaves nothing unknown" in problems(find, side_effect)) == (
        side_effect not in WRITE_LIKE
    )


def test_all_that_is_wrong_with_a_declaration_is_listed_with_everything_else() -> None:
    told = problems(Reconcile(cast(Any, of_nothing), run_again=cast(bool, 1)), "read")
    for part in ("leaves nothing unknown", "takes 0 positional", "run_again is 1"):
        assert part in told


def test_a_reconcile_that_cannot_be_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="more than zero"):
        Reconcile(find, timeout=timedelta(0))
    with pytest.raises(TypeError, match="function"):
        Reconcile(cast(Any, "find"))
    with pytest.raises(TypeError, match="Retry"):
        Reconcile(find, retry=cast(Retry, 3))
