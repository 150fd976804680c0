"""Whatever handlers, redaction and retry filters raise or return: one envelope, no secret."""

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from temperance import (
    CapabilityError,
    Failed,
    Policy,
    Redact,
    require_approval,
)
from temperance.runtime.names import SideEffect
from tests.fuzz.budget import budget
from tests.fuzz.faults import FAULTS
from tests.fuzz.judging import Door
from tests.fuzz.objects import ANYTHING
from tests.fuzz.orders import CARD, Make, Order, Slip, asked, one, opened, retried
from tests.fuzz.secret import SECRET

SIDE_EFFECTS = st.sampled_from(["none", "read", "write", "destructive", "external"])


@budget(2)
@given(FAULTS, SIDE_EFFECTS, st.booleans(), st.integers(0, 2), st.booleans())
async def test_g10_a_handler_that_raises_anything_ends_in_an_envelope(
    make: Make, side_effect: SideEffect, in_thread: bool, failures: int, retries: bool
) -> None:
    """In the loop and in a thread, at once and at a later attempt."""
    door = Door()

    def act() -> Slip:
        door.entered += 1
        if door.entered <= failures + 1 and not (door.entered == 2 and failures == 0):
            raise make()
        door.returned += 1
        return Slip(card=SECRET)

    async def handler(input: Order) -> Slip:
        await asyncio.sleep(0)
        return act()

    def threaded(input: Order) -> Slip:
        return act()

    metadata = retried(side_effect) if retries else {"side_effect": side_effect}
    seen = await asked(door, one(threaded if in_thread else handler, **metadata))
    if not retries and side_effect in {"write", "destructive", "external"}:
        assert door.entered == 1
        assert seen.envelope.effect == "possible"


@budget(2)
@given(ANYTHING, st.sampled_from([Slip, JsonValue, Any, str, int, list[int], dict[str, Any]]))
async def test_g10_a_handler_that_returns_anything_ends_in_an_envelope(
    value: object, output: Any
) -> None:
    """With an output as its type says, or OUTPUT_INVALID and effect done; it is not tried again."""
    door = Door()

    async def handler(input: Order) -> Any:
        door.entered += 1
        door.returned += 1
        return value

    handler.__annotations__["return"] = output
    redact = CARD if output is Slip else Redact()
    seen = await asked(door, one(handler, redact=redact))
    assert seen.envelope.effect == "done"
    assert not isinstance(seen.envelope, Failed) or seen.envelope.code in {
        "OUTPUT_INVALID",
        "INTERNAL_ERROR",
        "PAYLOAD_TOO_LARGE",
    }


RULES = st.sampled_from(["raises", "returns", "redacts"])


@budget(2)
@given(RULES, FAULTS, ANYTHING)
async def test_g10_a_redaction_that_raises_or_gives_anything_lets_nothing_out(
    how: str, make: Make, value: object
) -> None:
    """Of the output and of what approvers see."""

    def rule(given: object) -> object:
        if how == "raises":
            raise make()
        return value if how == "returns" else Slip(label="seen")

    door = Door()
    seen = await asked(door, one(opened(door), redact=Redact(output=rule)))
    assert seen.envelope.effect == "done"

    door = Door()
    entry = one(opened(door), redact=Redact(output=("card",), approval_input=rule))
    policies = [Policy(lambda request: require_approval("Why not."))]
    seen = await asked(door, entry, policies, {"note": "mine"})
    assert door.entered == 0


@budget()
@given(st.sampled_from(["raises", "returns"]), FAULTS, ANYTHING, FAULTS)
async def test_g2_a_filter_of_retries_that_fails_vetoes(
    way: str, make: Make, value: object, ends: Make
) -> None:
    """Only what says yes in so many words is tried again."""
    door = Door()

    async def handler(input: Order) -> Slip:
        door.entered += 1
        raise ends()

    def asks(error: CapabilityError) -> Any:
        if way == "raises":
            raise make()
        return value

    seen = await asked(door, one(handler, **retried("write", asks)))
    assert seen.envelope.attempts == 1 or (way == "returns" and value is True)
