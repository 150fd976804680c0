"""Retry derivation: how many attempts, and when (G2, DESIGN section 6)."""

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from temperance.runtime.error import CODES, CapabilityError, ErrorCode
from temperance.runtime.names import SIDE_EFFECTS, SideEffect
from temperance.runtime.retry import (
    LONGEST_BACKOFF,
    MOST_RETRIES,
    SINGLE_ATTEMPT,
    Retry,
    RetryPlan,
    allows_retry,
    derive_plan,
)

DURATIONS = st.timedeltas(timedelta(0), LONGEST_BACKOFF)


@st.composite
def retries(draw: st.DrawFn) -> Retry:
    backoff, cap = sorted([draw(DURATIONS), draw(DURATIONS)])
    return Retry(
        max_retries=draw(st.integers(1, MOST_RETRIES)),
        backoff=backoff,
        max_backoff=max(cap, timedelta(microseconds=1)),
    )


@pytest.mark.parametrize("count", [0, -1, MOST_RETRIES + 1])
def test_a_count_out_of_bounds_is_refused_and_the_message_says_what_to_do(count: int) -> None:
    with pytest.raises(ValueError, match="leave retry out for a single attempt"):
        Retry(max_retries=count)


@pytest.mark.parametrize("count", [True, 1.0, "1", None])
def test_a_count_that_is_no_whole_number_is_refused(count: Any) -> None:
    with pytest.raises(TypeError, match="whole number"):
        Retry(max_retries=count)


@pytest.mark.parametrize(
    ("backoff", "max_backoff"),
    [
        (timedelta(microseconds=-1), timedelta(seconds=1)),
        (timedelta(days=1, microseconds=1), timedelta(days=2)),
        (timedelta(seconds=1), timedelta(0)),
        (timedelta(0), timedelta(0)),
        (timedelta(seconds=1), timedelta(days=1, microseconds=1)),
        (timedelta(seconds=2), timedelta(seconds=1)),
        (timedelta.max, timedelta.max),
    ],
)
def test_a_delay_out_of_bounds_is_refused(backoff: timedelta, max_backoff: timedelta) -> None:
    with pytest.raises(ValueError, match=r"Retry\.(backoff|max_backoff)"):
        Retry(max_retries=1, backoff=backoff, max_backoff=max_backoff)


@pytest.mark.parametrize("name", ["backoff", "max_backoff"])
def test_a_delay_that_is_no_duration_is_refused_by_name(name: str) -> None:
    wrong: dict[str, Any] = {name: 250}
    with pytest.raises(TypeError, match=rf"Retry\.{name} must be a timedelta"):
        Retry(max_retries=1, **wrong)


@pytest.mark.parametrize("on", [(), ("ValueError",), ValueError, [ValueError], 5])
def test_a_filter_that_is_neither_exception_types_nor_a_predicate_is_refused(on: Any) -> None:
    with pytest.raises(TypeError, match=r"Retry\.on"):
        Retry(max_retries=1, on=on)


def test_a_long_backoff_raises_the_cap_that_nobody_gave() -> None:
    assert Retry(max_retries=1, backoff=timedelta(hours=1)).max_backoff == timedelta(hours=1)


def test_the_delay_starts_at_the_backoff_and_doubles_up_to_the_cap() -> None:
    retry = Retry(max_retries=9, max_backoff=timedelta(seconds=1))

    assert [retry.delay(number).total_seconds() for number in range(1, 6)] == [0.25, 0.5, 1, 1, 1]


@given(retries(), st.integers(1, MOST_RETRIES))
def test_every_delay_is_finite_and_under_the_cap(retry: Retry, number: int) -> None:
    assert timedelta(0) <= retry.delay(number) <= retry.max_backoff


@given(retries())
def test_no_delay_is_shorter_than_the_one_before(retry: Retry) -> None:
    delays = [retry.delay(number) for number in range(1, 80)]

    assert all(earlier <= later for earlier, later in pairwise(delays))


@pytest.mark.parametrize("number", [MOST_RETRIES, 10**9])
@pytest.mark.parametrize("backoff", [timedelta(0), timedelta(microseconds=1), timedelta(days=1)])
def test_the_delay_after_ten_thousand_retries_is_the_cap_or_zero(
    backoff: timedelta, number: int
) -> None:
    retry = Retry(max_retries=1, backoff=backoff, max_backoff=timedelta(days=1))

    assert retry.delay(number) == (timedelta(days=1) if backoff else timedelta(0))


@pytest.mark.parametrize("side_effect", SIDE_EFFECTS)
@pytest.mark.parametrize("idempotent", [False, True])
@pytest.mark.parametrize("retry", [None, Retry(max_retries=3)])
def test_g2_only_what_is_safe_to_repeat_and_asks_for_it_has_more_than_one_attempt(
    side_effect: SideEffect, idempotent: bool, retry: Retry | None
) -> None:
    plan = derive_plan(side_effect, idempotent, retry)

    if retry is not None and (idempotent or side_effect in {"none", "read"}):
        assert plan == RetryPlan(4, retry)
    else:
        assert plan == SINGLE_ATTEMPT


def test_temporals_intervals_are_positive_and_follow_the_declaration() -> None:
    plan = RetryPlan(3, Retry(max_retries=2, backoff=timedelta(seconds=2)))

    assert plan.initial_interval == timedelta(seconds=2)
    assert plan.maximum_interval == timedelta(seconds=30)


def test_a_backoff_of_zero_stays_next_to_zero_on_temporal() -> None:
    plan = RetryPlan(10_001, Retry(max_retries=10_000, backoff=timedelta(0)))

    assert plan.initial_interval == plan.maximum_interval == timedelta(milliseconds=1)


PLAN = derive_plan("read", False, Retry(max_retries=1))


@pytest.mark.parametrize("code", CODES)
def test_an_error_is_retried_only_where_its_code_says_so(code: ErrorCode) -> None:
    assert allows_retry(PLAN, CapabilityError(code)) is CODES[code].retryable


@pytest.mark.parametrize("code", CODES)
def test_g2_a_single_attempt_is_never_followed_by_another(code: ErrorCode) -> None:
    assert not allows_retry(SINGLE_ATTEMPT, CapabilityError(code, retryable=True))


def test_exception_types_decide_which_undeclared_exceptions_are_retried() -> None:
    plan = derive_plan("read", False, Retry(max_retries=1, on=(ConnectionError,)))

    assert allows_retry(plan, CapabilityError("EXECUTION_FAILED", cause=ConnectionResetError()))
    assert not allows_retry(plan, CapabilityError("EXECUTION_FAILED", cause=ValueError()))
    assert allows_retry(plan, CapabilityError("TIMEOUT"))


def test_a_declared_error_that_says_it_is_retryable_is_taken_at_its_word() -> None:
    plan = derive_plan("read", False, Retry(max_retries=1, on=(ConnectionError,)))
    declared = CapabilityError(
        "EXECUTION_FAILED", reason="BUSY", cause=ValueError(), retryable=True
    )

    assert allows_retry(plan, declared)


def test_a_predicate_can_veto_and_cannot_allow_what_is_not_retryable() -> None:
    def on(error: CapabilityError) -> bool:
        return error.code != "TIMEOUT"

    plan = derive_plan("read", False, Retry(max_retries=1, on=on))

    assert allows_retry(plan, CapabilityError("EXECUTION_FAILED"))
    assert not allows_retry(plan, CapabilityError("TIMEOUT"))
    assert not allows_retry(plan, CapabilityError("POLICY_DENIED"))


def test_a_predicate_that_raises_or_gives_something_else_vetoes() -> None:
    def raises(error: CapabilityError) -> bool:
        raise RuntimeError(error.code)

    def odd(_: CapabilityError) -> Any:
        return "yes"

    for on in (raises, odd):
        plan = derive_plan("read", False, Retry(max_retries=1, on=on))
        assert not allows_retry(plan, CapabilityError("EXECUTION_FAILED"))
