"""The decorator, and what is derived from the declaration."""

import inspect
from datetime import timedelta
from typing import Any

import pytest

from temperance.runtime.capability import Approval, Capability, Redact, capability
from temperance.runtime.decision import Decision, allow
from temperance.runtime.middleware import Proceed
from temperance.runtime.policy import Policy
from temperance.runtime.retry import Retry, RetryPlan
from tests.runtime.orders import Order, Receipt, look_up, make, refund


def rule(_: Any) -> Decision:
    return allow()


async def around(ctx: Any, proceed: Proceed) -> object:
    return await proceed()


def declared(**metadata: Any) -> Capability[Order, Receipt]:
    required: dict[str, Any] = {
        "description": "d",
        "expose": {"agent"},
        "side_effect": "read",
        "risk": "low",
    }
    entry: Capability[Order, Receipt] = capability("orders.refund", **(required | metadata))(
        look_up
    )
    return entry


def test_everything_that_is_declared_is_kept() -> None:
    entry = declared(
        idempotent=True,
        retry=Retry(max_retries=2),
        timeout=timedelta(seconds=9),
        queue_timeout=timedelta(seconds=8),
        approval=Approval(type="manager"),
        redact=Redact(output=("card",)),
        policies=iter([rule, Policy(rule, "execution")]),
        middleware=iter([around]),
        tags=["a", "b", "a"],
        tool_name="refund",
    )

    assert (entry.id, entry.handler, entry.description) == ("orders.refund", look_up, "d")
    assert entry.expose == {"agent"}
    assert entry.plan == RetryPlan(3, Retry(max_retries=2))
    assert (entry.timeout.seconds, entry.queue_timeout) == (9, timedelta(seconds=8))
    assert entry.approval == Approval(type="manager")
    assert entry.redact.output == ("card",)
    assert entry.policies == (Policy(rule), Policy(rule, "execution"))
    assert entry.middleware == (around,)
    assert entry.tags == {"a", "b"}
    assert entry.tool_name == "refund"
    assert entry.declared_in == "tests.runtime.orders.look_up"


def test_what_is_left_out_is_strict() -> None:
    entry = declared()

    assert entry.idempotent is False
    assert entry.plan.maximum_attempts == 1
    assert entry.timeout == timedelta(seconds=30)
    assert entry.approval is None
    assert Approval().expires_in == timedelta(minutes=15)


@pytest.mark.parametrize("name", ["description", "expose", "side_effect", "risk"])
def test_what_is_never_inferred_has_no_default(name: str) -> None:
    parameter = inspect.signature(capability).parameters[name]

    assert parameter.default is inspect.Parameter.empty


def test_a_single_word_for_a_set_is_one_word_and_not_its_letters() -> None:
    entry = declared(expose="agent", tags="orders")

    assert entry.expose == {"agent"}
    assert entry.tags == {"orders"}


def test_a_handler_tells_whether_it_takes_a_context_and_whether_it_is_async() -> None:
    def plain(input: Order) -> Receipt:
        return Receipt(receipt_id=input.order_id)

    assert make(handler=refund).takes_context
    assert not make(handler=look_up).takes_context
    assert make(handler=look_up).is_async
    assert not make(handler=plain).is_async


def test_schemas_are_built_once() -> None:
    entry = make()

    assert entry.input_schema is entry.input_schema
    assert entry.output_schema.from_json('{"receipt_id": "r"}') == Receipt(receipt_id="r")


def test_capabilities_are_the_same_only_when_they_are_one() -> None:
    assert make() != make()
    assert len({make(), make()}) == 2
