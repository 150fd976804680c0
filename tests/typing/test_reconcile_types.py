"""What type checkers make of `reconcile`: its types are those of the capability."""

from typing import Any, assert_type

from pydantic import BaseModel

from temperance import (
    Capability,
    Context,
    DidNotHappen,
    Happened,
    Reconcile,
    Retry,
    Unknown,
    capability,
    did_not_happen,
    happened,
    unknown,
)


class RefundInput(BaseModel):
    order_id: str


class RefundResult(BaseModel):
    refund_id: str


class Other(BaseModel):
    name: str


class Shop:
    name = "shop"


async def find_async(
    input: RefundInput, ctx: Context[Shop]
) -> Happened[RefundResult] | DidNotHappen | Unknown:
    return happened(RefundResult(refund_id=ctx.app.name))


def find_plain(input: RefundInput) -> Happened[RefundResult] | DidNotHappen:
    return did_not_happen()


async def find_other(input: RefundInput) -> Happened[Other] | Unknown:
    return unknown()


async def find_of_other(input: Other) -> Happened[RefundResult] | Unknown:
    return unknown()


@capability(
    "a.one",
    description="d",
    expose={"agent"},
    side_effect="write",
    risk="high",
    reconcile=find_async,
)
async def with_function(input: RefundInput, ctx: Context[Shop]) -> RefundResult:
    return RefundResult(refund_id=ctx.app.name)


@capability(
    "a.two",
    description="d",
    expose={"agent"},
    side_effect="write",
    risk="high",
    reconcile=Reconcile(find_plain, retry=Retry(max_retries=1), run_again=True),
)
def with_reconcile(input: RefundInput) -> RefundResult:
    return RefundResult(refund_id=input.order_id)


@capability(
    "a.three",
    description="d",
    expose={"agent"},
    side_effect="write",
    risk="high",
    reconcile=find_plain,
)
async def with_plain_function(input: RefundInput) -> RefundResult:
    return RefundResult(refund_id=input.order_id)


def test_the_decorated_name_is_a_capability_of_the_handlers_types() -> None:
    assert_type(with_function, Capability[RefundInput, RefundResult])
    assert_type(with_reconcile, Capability[RefundInput, RefundResult])
    assert_type(with_plain_function, Capability[RefundInput, RefundResult])


def test_a_reconcile_has_the_types_of_its_function() -> None:
    assert_type(Reconcile(find_async), Reconcile[RefundInput, RefundResult])
    assert_type(Reconcile(find_plain), Reconcile[RefundInput, RefundResult])
    listed: list[Reconcile[Any, Any]] = [Reconcile(find_async), Reconcile(find_other)]

    assert len(listed) == 2


async def handler(input: RefundInput) -> RefundResult:
    return RefundResult(refund_id=input.order_id)


def refuses_what_does_not_fit_the_handler() -> None:
    of_another_output = capability(
        "a.b",
        description="d",
        expose={"agent"},
        side_effect="write",
        risk="low",
        reconcile=find_other,
    )
    of_another_input = capability(
        "a.b",
        description="d",
        expose={"agent"},
        side_effect="write",
        risk="low",
        reconcile=Reconcile(find_of_other, run_again=True),
    )
    of_another_output(handler)  # type: ignore[arg-type]  # pyright: ignore[reportCallIssue, reportArgumentType]
    of_another_input(handler)  # type: ignore[arg-type]  # pyright: ignore[reportCallIssue, reportArgumentType]
    Reconcile(handler)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
