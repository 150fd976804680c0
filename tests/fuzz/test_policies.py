"""Policies that raise, answer, change or await anything: refused or let through, never broken."""

import asyncio
import contextlib
import dataclasses
from functools import partial
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from temperance import (
    App,
    Decision,
    Governance,
    MemorySink,
    Policy,
    Request,
    Runtime,
    allow,
    deny,
    hide,
    require_approval,
)
from tests.fuzz.budget import budget
from tests.fuzz.faults import FAULTS
from tests.fuzz.judging import ADA, Door, bounded
from tests.fuzz.objects import ANYTHING
from tests.fuzz.orders import SOON, Make, asked, one, opened, retried
from tests.fuzz.secret import leaks, listening
from tests.fuzz.values import TEXTS

PHASES = st.sampled_from(["discovery", "invocation", "execution"])


def _decisions() -> st.SearchStrategy[Any]:
    expiry = st.timedeltas() | st.none() | st.integers()
    return (
        st.builds(allow)
        | st.builds(hide)
        | st.builds(partial, st.just(deny), TEXTS, TEXTS)
        | st.builds(
            partial, st.just(require_approval), TEXTS, type=TEXTS | st.none(), expires_in=expiry
        )
        | ANYTHING
    )


WAYS = st.sampled_from(["returns", "raises", "awaits", "awaits and raises", "never", "deaf"])
RULE = st.tuples(WAYS, _decisions(), FAULTS, PHASES, st.booleans())


def rule_of(rule: tuple[str, Any, Make, Any, bool]) -> Policy:
    """A policy that behaves as drawn."""
    way, decision, make, phase, changes = rule

    def meddle(request: Request[Any, Any]) -> None:
        if changes and request.input is not None:
            request.input.note = {"changed": True}

    def answer() -> Any:
        # Making it may fail, which is the policy's to answer for.
        lazy: Any = decision
        return lazy() if type(decision) is partial else decision

    async def later(request: Request[Any, Any]) -> Decision:
        meddle(request)
        await asyncio.sleep(0)
        if way == "awaits and raises":
            raise make()
        if way == "never":
            await asyncio.Event().wait()
        if way == "deaf":
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
        given: Decision = answer()
        return given

    def now(request: Request[Any, Any]) -> Any:
        meddle(request)
        if way == "raises":
            raise make()
        return answer() if way == "returns" else later(request)

    return Policy(now, phase)


@budget(3)
@given(st.lists(RULE, min_size=1, max_size=3), st.booleans())
async def test_g8_policies_of_any_kind_refuse_or_let_through_and_never_break(
    rules: list[tuple[str, object, Make, Any, bool]], retries: bool
) -> None:
    """What no policy allowed is not entered; whatever they raise, answer or change."""
    door = Door()
    metadata = retried("read") if retries else {}
    seen = await asked(door, one(opened(door), **metadata), [rule_of(rule) for rule in rules])
    if seen.envelope.status == "completed":
        assert all(way in {"returns", "awaits"} for way, *_ in rules)
        assert not any(changes for *_, phase, changes in rules if phase != "discovery")


@budget()
@given(st.lists(RULE, min_size=1, max_size=3))
async def test_g9_discovery_lists_or_withholds_whatever_its_policies_do(
    rules: list[tuple[str, object, Make, Any, bool]],
) -> None:
    """What one of them did not allow is not listed, and nothing is told of it."""
    sink = MemorySink()
    policies = [dataclasses.replace(rule_of(rule), phase="discovery") for rule in rules]
    app = App(Governance([one(opened(Door()))], policies, policy_timeout=SOON), sinks=[sink])
    with listening() as lines:
        listed = await bounded(Runtime(app).describe(actor=ADA, surface="agent"))
    assert sink.types() == ["capabilities.discovered"]
    allowed = all(way in {"returns", "awaits"} for way, *_ in rules)
    assert listed.listed + listed.withheld == 1
    assert allowed or listed.listed == 0
    told = [repr(listed), sink.events[0].model_dump_json(), *lines]
    assert leaks(told) == []
