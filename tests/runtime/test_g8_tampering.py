"""Inputs that were tampered with: by a policy, before validation, or after the end (G8)."""

import asyncio
from contextlib import suppress
from copy import deepcopy
from datetime import timedelta
from decimal import Decimal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from temperance import Actor, App, Capability, Context, Governance, Retry, allow, capability
from temperance.runtime.decision import Allow
from temperance.runtime.middleware import Proceed
from temperance.runtime.policy import Phase, Policy
from temperance.runtime.request import Request
from temperance.runtime.runtime import Runtime
from temperance.runtime.sink import MemorySink

ADA = Actor(id="ada")


class Line(BaseModel):
    amount: int = Field(gt=0)


class Order(BaseModel):
    lines: list[Line]


put = object.__setattr__  # round the guard of a frozen model

ENTERED: list[int] = []
"""Amounts that a handler was entered with."""


@capability("shop.pay", description="Pay.", expose={"direct"}, side_effect="write", risk="low")
async def pay(order: Order) -> None:
    ENTERED.append(order.lines[0].amount)


@capability(
    "shop.read",
    description="Read.",
    expose={"direct"},
    side_effect="read",
    risk="low",
    retry=Retry(1, backoff=timedelta(0)),
)
async def read(lines: list[Line]) -> int:
    ENTERED.append(lines[0].amount)
    lines[0].amount += 1
    if len(ENTERED) == 1:
        raise ConnectionError
    return lines[0].amount


@pytest.fixture(autouse=True)
def nothing_entered() -> None:
    ENTERED.clear()


def raise_the_amount(request: Request[Order, None]) -> Allow:
    request.input.lines[0].amount = 1_000_000
    return allow()


async def test_g8_a_policy_that_changes_the_input_denies() -> None:
    """What the hash binds and other policies were asked about is not what the handler would get."""
    sink = MemorySink()
    app = App(Governance([pay], policies=[raise_the_amount]), sinks=[sink])

    envelope = await Runtime(app).invoke(pay, Order(lines=[Line(amount=5)]), actor=ADA)

    assert envelope.status == "failed"
    assert (envelope.error.code, envelope.effect) == ("POLICY_FAILED", "none")
    assert ENTERED == []
    assert sink.events[-1].reason == "changed"


class Count(BaseModel):
    count: int
    note: str | None = None


class Amount(BaseModel):
    model_config = ConfigDict(frozen=True)

    amount: Decimal | float | None


class Words(BaseModel):
    words: set[str]


@capability("shop.count", description="Count.", expose={"direct"}, side_effect="read", risk="low")
async def count(given: Count) -> None:
    ENTERED.append(given.count)


@capability("shop.weigh", description="Weigh.", expose={"direct"}, side_effect="read", risk="low")
async def weigh(given: Amount) -> None:
    ENTERED.append(int(given.amount or 0))


@capability("shop.spell", description="Spell.", expose={"direct"}, side_effect="read", risk="low")
async def spell(given: Words) -> None:
    ENTERED.append(len(given.words))


@pytest.mark.parametrize("phase", ["invocation", "execution"])
@pytest.mark.parametrize(
    ("asked", "before", "after"),
    [
        (count, {"count": 1}, {"count": 2}),
        (count, {"count": 1}, {"count": "1"}),
        (count, {"count": 1}, {"count": object()}),
        (count, {"count": 1}, {"note": ""}),
        (weigh, {"amount": "1.5"}, {"amount": "1.5"}),
        (weigh, {"amount": None}, {"amount": float("nan")}),
        (weigh, {"amount": 0.0}, {"amount": -0.0}),
        (spell, {"words": ["a", "b"]}, {"words": {"a", "c"}}),
        (spell, {"words": ["a", "b"]}, {"words": "ab"}),
    ],
)
async def test_g8_no_change_of_a_value_or_of_its_type_passes_a_policy(
    asked: Capability[BaseModel, None],
    before: dict[str, object],
    after: dict[str, object],
    phase: Phase,
) -> None:
    """Also where it looks the same as JSON, or where nothing could be written any more."""

    def change(request: Request[BaseModel, None]) -> Allow:
        for name, value in after.items():
            put(request.input, name, value)
        return allow()

    app = App(Governance([asked], policies=[Policy(change, phase)]), sinks=[sink := MemorySink()])
    envelope = await Runtime(app).invoke(asked, before, actor=ADA)
    assert envelope.status == "failed"
    assert (envelope.error.code, envelope.effect) == ("POLICY_FAILED", "none")
    assert ENTERED == []
    assert sink.events[-1].reason == "changed"


@pytest.mark.parametrize(
    ("asked", "given"),
    [(count, {"count": 1}), (weigh, {"amount": "1.5"}), (spell, {"words": ["a", "b", "c"]})],
)
async def test_a_policy_that_puts_back_what_it_took_changes_nothing(
    asked: Capability[BaseModel, None], given: dict[str, object]
) -> None:
    """Only what the handler would get counts, not which objects it is made of."""

    def copy(request: Request[BaseModel, None]) -> Allow:
        for name, value in request.input:
            put(request.input, name, deepcopy(value))
        return allow()

    app = App(Governance([asked], policies=[copy]))
    envelope = await Runtime(app).invoke(asked, given, actor=ADA)
    assert envelope.status == "completed"


@pytest.mark.parametrize("where", ["mapping", "list"])
async def test_g8_an_instance_inside_of_a_raw_input_is_judged_like_any_other(where: str) -> None:
    """One that was built without validation does not enter the handler."""
    bad = Line.model_construct(amount=-5)
    runtime = Runtime(App(Governance([pay, read])))

    envelope = (
        await runtime.invoke("shop.pay", {"lines": [bad]}, actor=ADA)
        if where == "mapping"
        else await runtime.invoke("shop.read", [bad], actor=ADA)
    )

    assert envelope.status == "failed"
    assert envelope.error.code == "INPUT_INVALID"
    assert ENTERED == []


async def test_a_handler_that_changes_its_input_changes_no_other_attempts_input() -> None:
    """Instances inside of a raw input are copied for each attempt."""
    lines = [Line(amount=1)]

    envelope = await Runtime(App(Governance([read]))).invoke(read, lines, actor=ADA)

    assert envelope.status == "completed"
    assert ENTERED == [1, 1]
    assert lines == [Line(amount=1)]


async def test_g2_middleware_that_proceeds_after_its_attempt_had_ended_enters_nothing() -> None:
    """The end may be recorded by then, and says that there was no effect."""
    left: list[asyncio.Future[object]] = []

    async def leave(ctx: Context[None], proceed: Proceed) -> object:
        del ctx
        left.append(asyncio.ensure_future(proceed()))
        raise ConnectionError

    app = App(Governance([pay], middleware=[leave]))

    envelope = await Runtime(app).invoke(pay, Order(lines=[Line(amount=5)]), actor=ADA)
    with suppress(RuntimeError):
        await left[0]

    assert (envelope.status, envelope.effect) == ("failed", "none")
    assert ENTERED == []


@pytest.mark.parametrize("given", [{"id": " hunter2"}, {"id": "a", "kind": "hunter2"}])
def test_g10_what_is_wrong_with_an_actor_is_said_without_what_was_given(
    given: dict[str, str],
) -> None:
    """The message may end in a log, or in the failure of a workflow task."""
    with pytest.raises(ValidationError) as caught:
        Actor.model_validate(given)

    assert "hunter2" not in str(caught.value)
