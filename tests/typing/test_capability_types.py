"""What type checkers make of the decorator: `make check` proves it, running it proves nothing."""

from datetime import timedelta
from typing import Any, assert_type

from pydantic import BaseModel

from temperance.runtime.capability import Capability, capability
from temperance.runtime.context import Context
from temperance.runtime.retry import Retry


class RefundInput(BaseModel):
    order_id: str


class RefundResult(BaseModel):
    refund_id: str


class Shop:
    name = "shop"


@capability("a.one", description="d", expose={"agent"}, side_effect="write", risk="high")
async def async_with_context(input: RefundInput, ctx: Context[Shop]) -> RefundResult:
    assert_type(ctx.app, Shop)
    assert_type(ctx.idempotency_key, str)
    return RefundResult(refund_id=ctx.app.name)


@capability("a.two", description="d", expose={"agent", "mcp"}, side_effect="read", risk="low")
async def async_without_context(input: RefundInput) -> RefundResult:
    return RefundResult(refund_id=input.order_id)


@capability(
    "a.three",
    description="d",
    expose=["direct"],
    side_effect="none",
    risk="low",
    retry=Retry(max_retries=1),
    timeout=timedelta(seconds=1),
)
def plain_with_context(input: RefundInput, ctx: Context[Shop]) -> RefundResult:
    assert_type(ctx, Context[Shop])
    return RefundResult(refund_id=ctx.execution_id)


@capability("a.four", description="d", expose=("test",), side_effect="none", risk="low")
def plain_without_context(input: RefundInput) -> RefundResult:
    return RefundResult(refund_id=input.order_id)


@capability("a.five", description="d", expose={"test"}, side_effect="none", risk="low")
async def of_other_types(input: list[int], ctx: Context[None]) -> dict[str, int] | None:
    return {"sum": sum(input)}


@capability("a.six", description="d", expose={"test"}, side_effect="external", risk="low")
async def gives_nothing(input: RefundInput) -> None: ...


def test_the_decorated_name_is_a_capability_of_the_handlers_types() -> None:
    assert_type(async_with_context, Capability[RefundInput, RefundResult])
    assert_type(async_without_context, Capability[RefundInput, RefundResult])
    assert_type(plain_with_context, Capability[RefundInput, RefundResult])
    assert_type(plain_without_context, Capability[RefundInput, RefundResult])
    assert_type(of_other_types, Capability[list[int], dict[str, int] | None])
    assert_type(gives_nothing, Capability[RefundInput, None])


def test_the_schemas_carry_the_handlers_types() -> None:
    assert_type(async_with_context.input_schema.from_json('{"order_id": "o"}'), RefundInput)
    assert_type(plain_without_context.output_schema.from_json('{"refund_id": "r"}'), RefundResult)


def test_any_capability_is_one_of_a_list_of_capabilities() -> None:
    listed: list[Capability[Any, Any]] = [async_with_context, of_other_types, gives_nothing]

    assert len(listed) == 3


def refuses_what_is_not_metadata() -> None:
    capability("a.b", description="d", expose={"agents"}, side_effect="read", risk="low")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
    capability("a.b", description="d", expose={"agent"}, side_effect="update", risk="low")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
    capability("a.b", description="d", expose={"agent"}, side_effect="read")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
