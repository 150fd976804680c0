"""What the policies of a phase come to (G8, DESIGN section 4)."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temperance.runtime.decision import (
    DEFAULT_APPROVAL_EXPIRY,
    Decision,
    RequireApproval,
    allow,
    deny,
    hide,
    require_approval,
)
from temperance.runtime.policy import (
    CLEAR,
    PHASES,
    Phase,
    Policy,
    Verdict,
    as_policy,
    evaluate,
    merge,
    policy,
)
from tests.runtime.orders import SECOND, request

Answer = Callable[[], object]


def gives(answer: object, phase: Phase = "invocation") -> Policy:
    """A policy that gives an answer of any kind, allowed or not."""

    def function(_: object) -> Any:
        return answer

    return Policy(function, phase, "given")


async def judge(*policies: Policy, timeout: timedelta = SECOND) -> Verdict:
    return await evaluate(policies, request(), timeout)


async def code_of(*policies: Policy) -> str | None:
    verdict = await judge(*policies)
    return None if verdict.refusal is None else verdict.refusal.code


ANSWERS: dict[str, object] = {
    "allow": allow(),
    "deny": deny("OVER_LIMIT", "Too much."),
    "hide": hide(),
    "ask": require_approval("large sum"),
    "wrong": "yes",
}


@settings(max_examples=120)
@given(st.lists(st.sampled_from(sorted(ANSWERS)), max_size=6))
def test_g8_the_strictest_answer_wins_whatever_the_order(names: list[str]) -> None:
    verdict = asyncio.run(judge(*(gives(ANSWERS[name]) for name in names)))
    code = None if verdict.refusal is None else verdict.refusal.code

    if "deny" in names:
        assert code == "POLICY_DENIED"
    elif "wrong" in names:
        assert code == "POLICY_FAILED"
    elif "hide" in names:
        assert code == "CAPABILITY_NOT_FOUND"
    elif "ask" in names:
        assert verdict.demand is not None
        assert verdict.demand.reasons == ("large sum",)
    else:
        assert verdict == CLEAR


@pytest.mark.parametrize("answer", sorted(ANSWERS))
async def test_every_policy_is_asked_whatever_the_others_answer(answer: str) -> None:
    asked: list[str] = []

    async def second(_: Any) -> Decision:
        asked.append("second")
        return allow()

    await judge(gives(ANSWERS[answer]), Policy(second))

    assert asked == ["second"]


async def test_no_policies_have_nothing_against_it() -> None:
    assert await judge() == CLEAR


@pytest.mark.parametrize("answer", [None, True, "allow", 1, (), RequireApproval, Exception("x")])
async def test_g8_anything_but_a_decision_denies(answer: object) -> None:
    async def later() -> object:
        return answer

    assert await code_of(gives(answer)) == "POLICY_FAILED"
    assert await code_of(gives(later())) == "POLICY_FAILED"


async def test_g8_a_policy_that_raises_denies_and_its_text_stays_private() -> None:
    def broken(_: Any) -> Decision:
        raise RuntimeError("hunter2")

    async def broken_later(_: Any) -> Decision:
        raise RuntimeError("hunter2")

    for entry in (Policy(broken), Policy(broken_later)):
        verdict = await judge(entry)
        assert verdict.refusal is not None
        assert verdict.refusal.code == "POLICY_FAILED"
        assert "hunter2" not in str(verdict.refusal.public())
        assert isinstance(verdict.refusal.cause, RuntimeError)


async def test_g8_a_policy_that_takes_too_long_denies() -> None:
    async def slow(_: Any) -> Decision:
        await asyncio.sleep(60)
        return allow()

    verdict = await judge(Policy(slow), timeout=timedelta(milliseconds=1))

    assert verdict.refusal is not None
    assert verdict.refusal.code == "POLICY_FAILED"


async def test_g8_a_late_answer_of_a_policy_that_swallows_its_cancellation_does_not_count() -> None:
    async def stubborn(_: Any) -> Decision:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return allow()
        return allow()

    verdict = await judge(Policy(stubborn), timeout=timedelta(milliseconds=1))

    assert verdict.refusal is not None
    assert verdict.refusal.code == "POLICY_FAILED"


async def test_g8_a_cancellation_inside_a_policy_denies() -> None:
    async def cancelled(_: Any) -> Decision:
        raise asyncio.CancelledError

    assert await code_of(Policy(cancelled), gives(allow())) == "POLICY_FAILED"


async def test_a_cancellation_from_outside_ends_the_evaluation() -> None:
    async def waits(_: Any) -> Decision:
        await asyncio.sleep(60)
        return allow()

    task = asyncio.create_task(judge(Policy(waits)))
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_denial_carries_the_policys_code_and_message_and_names_it_for_the_audit() -> None:
    @policy(name="limits")
    def limit(_: Any) -> Decision:
        return deny("OVER_LIMIT", "At most 100.")

    refusal = (await judge(gives(hide()), limit, gives(deny("LATER", "Not shown.")))).refusal

    assert refusal is not None
    assert refusal.public().model_dump() == {
        "code": "POLICY_DENIED",
        "message": "At most 100.",
        "stage": "policy",
        "retryable": False,
        "reason": "OVER_LIMIT",
        "details": None,
    }
    assert refusal.audit_reason == "denied:limits"
    assert refusal.governed


async def test_g9_what_a_policy_hides_looks_unknown_and_the_audit_has_the_reason() -> None:
    refusal = (await judge(gives(hide()))).refusal

    assert refusal is not None
    assert refusal.public().code == "CAPABILITY_NOT_FOUND"
    assert "given" not in refusal.public().model_dump_json()
    assert refusal.audit_reason == "hidden:given"


async def test_the_stage_tells_execution_policies_from_invocation_policies() -> None:
    for answer in (deny("NO", "No."), None):
        before = (await judge(gives(answer, "invocation"))).refusal
        last = (await judge(gives(answer, "execution"))).refusal
        assert before is not None
        assert last is not None
        assert (before.stage, last.stage) == ("policy", "execution_policy")


def test_demands_merge_to_all_reasons_all_types_and_the_least_expiry() -> None:
    demand = merge(
        [
            require_approval("large", type="manager"),
            require_approval("abroad", type="legal", expires_in=SECOND),
            require_approval("large", type="manager", expires_in=timedelta(days=1)),
            require_approval("odd"),
        ]
    )

    assert demand.reasons == ("large", "abroad", "odd")
    assert demand.types == ("manager", "legal")
    assert demand.expires_in == SECOND


@given(st.lists(st.timedeltas(SECOND, timedelta(days=30)), min_size=1, max_size=5))
def test_no_merge_lasts_longer_than_any_of_its_demands(expiries: list[timedelta]) -> None:
    demand = merge([require_approval("r", expires_in=expiry) for expiry in expiries])

    assert demand.expires_in == min(expiries)


def test_a_demand_lasts_fifteen_minutes_unless_it_says_otherwise() -> None:
    assert require_approval("r").expires_in == DEFAULT_APPROVAL_EXPIRY == timedelta(minutes=15)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: require_approval("r", expires_in=timedelta(0)),
        lambda: require_approval("r", expires_in=timedelta(days=31)),
        lambda: require_approval("r", expires_in=timedelta.max),
        lambda: RequireApproval("r", expires_in=5),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: require_approval(None),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: require_approval("r", type=7),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: deny(403, "No."),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ],
)
async def test_g8_a_decision_that_says_something_impossible_denies(wrong: Answer) -> None:
    with pytest.raises((TypeError, ValueError)):
        wrong()

    def function(_: object) -> Any:
        return wrong()

    assert await code_of(Policy(function)) == "POLICY_FAILED"


def test_a_bare_function_is_an_invocation_policy_under_its_own_name() -> None:
    def limits(_: Any) -> Decision:
        return allow()

    assert as_policy(limits) == Policy(limits, "invocation", "limits")
    assert policy(phase="execution")(limits) == Policy(limits, "execution", "limits")
    assert Policy(limits).name == "limits"
    assert policy(name="other")(limits).name == "other"


def test_a_policy_that_is_one_stays_what_it_is() -> None:
    for phase in PHASES:
        entry = gives(allow(), phase)
        assert as_policy(entry) is entry


async def test_any_awaitable_may_carry_the_decision() -> None:
    async def slow() -> Decision:
        await asyncio.sleep(0)
        return deny("NO", "No.")

    def with_task(_: Any) -> Awaitable[Decision]:
        return asyncio.ensure_future(slow())

    assert await code_of(Policy(with_task)) == "POLICY_DENIED"
