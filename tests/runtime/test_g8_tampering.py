"""Inputs that were tampered with: by a policy, before validation, or after the end (G8)."""

import asyncio
from contextlib import suppress
from datetime import timedelta

import pytest
from pydantic import BaseModel, Field, ValidationError

from temperance import Actor, App, Context, Governance, Retry, allow, capability
from temperance.runtime.decision import Allow
from temperance.runtime.middleware import Proceed
from temperance.runtime.request import Request
from temperance.runtime.runtime import Runtime
from temperance.runtime.sink import MemorySink

ADA = Actor(id="ada")


class Line(BaseModel):
    amount: int = Field(gt=0)


class Order(BaseModel):
    lines: list[Line]


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
