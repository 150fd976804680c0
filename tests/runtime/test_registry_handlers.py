"""The registry: handlers that cannot be called, and types that cannot travel."""

# mypy: disable-error-code="empty-body"
# Signatures are what is tested: nothing here is ever called.

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from temperance.runtime.capability import capability
from temperance.runtime.context import Context
from temperance.runtime.error import RegistryError
from temperance.runtime.registry import CapabilityRegistry
from tests.runtime.models import Deferred, Everything, Excluding, ExcludingRequired, Node, Sets
from tests.runtime.orders import Order, Receipt, look_up, make

if TYPE_CHECKING:
    from decimal import Decimal


def problems(handler: object) -> list[str]:
    with pytest.raises(RegistryError) as raised:
        CapabilityRegistry([make(handler=handler)])
    return list(raised.value.problems)


class Plain:
    """A class that pydantic knows nothing of."""


class Arbitrary(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)

    plain: Plain


class Calls(BaseModel):
    back: Callable[[], int]


@dataclass
class Point:
    x: int


class Desk:
    def refund(self, input: Order, ctx: Context[None]) -> Receipt: ...

    def __call__(self, input: Order) -> Receipt: ...


def takes_input(input: Order) -> Receipt: ...
def takes_context(input: Order, ctx: Context[int]) -> Receipt: ...
def takes_bare_context(input: Order, ctx: Context) -> Receipt: ...  # type: ignore[type-arg]  # pyright: ignore[reportMissingTypeArgument, reportUnknownParameterType]
def takes_any_context(input: Order, ctx: Any) -> Receipt: ...
def takes_positional_only(input: Order, ctx: Context[int], /) -> Receipt: ...
def has_keyword_with_default(input: Order, *, verbose: bool = False) -> Receipt: ...
def has_more(input: Order, *more: int, **others: int) -> Receipt: ...
def gives_nothing(input: Order) -> None: ...
def takes_annotated(input: Annotated[Order, Field(description="d")]) -> list[Receipt]: ...
def takes_dataclass(input: Point) -> dict[str, Point]: ...
def takes_everything(input: Everything) -> Sets: ...
def takes_recursive(input: Node) -> Deferred: ...
def gives_less(input: Order) -> Excluding: ...
async def is_async(input: Order, ctx: Context[int]) -> Receipt: ...


@functools.wraps(takes_context)
def wrapped(*args: Any, **kwargs: Any) -> Receipt:
    return takes_context(*args, **kwargs)


SOUND: list[object] = [
    takes_input,
    takes_context,
    takes_bare_context,
    takes_any_context,
    takes_positional_only,
    has_keyword_with_default,
    has_more,
    gives_nothing,
    takes_annotated,
    takes_dataclass,
    takes_everything,
    takes_recursive,
    gives_less,
    is_async,
    wrapped,
    Desk().refund,
]


@pytest.mark.parametrize("handler", SOUND)
def test_a_function_of_an_input_and_perhaps_a_context_is_a_handler(handler: object) -> None:
    entry = make(handler=handler)

    assert entry in CapabilityRegistry([entry])


def no_parameters() -> Receipt: ...
def three_parameters(input: Order, ctx: Context[int], more: int) -> Receipt: ...
def keyword_only(*, input: Order) -> Receipt: ...
def requires_keyword(input: Order, *, shop: str) -> Receipt: ...
def flag_for_context(input: Order, verbose: bool = False) -> Receipt: ...
def bare_context(input: Order, ctx) -> Receipt: ...  # type: ignore[no-untyped-def]  # pyright: ignore  # noqa: ANN001, PGH003
def bare_input(input) -> Receipt: ...  # type: ignore[no-untyped-def]  # pyright: ignore  # noqa: ANN001, PGH003
def bare_output(input: Order): ...  # type: ignore[no-untyped-def]  # noqa: ANN201
def unresolvable(input: Decimal) -> Receipt: ...
def awaitable_output(input: Order) -> Awaitable[Receipt]: ...
def plain_input(input: Plain) -> Receipt: ...
def plain_output(input: Order) -> list[Plain]: ...
def arbitrary_input(input: Arbitrary) -> Receipt: ...
def callable_output(input: Order) -> Calls: ...
def excluding_input(input: Excluding) -> Receipt: ...
def excluding_output(input: Order) -> ExcludingRequired: ...
def generator(input: Order) -> Iterator[int]:
    yield 1


async def async_generator(input: Order) -> AsyncIterator[int]:
    yield 1


UNSOUND: list[tuple[object, str]] = [
    (no_parameters, "takes 0 positional parameters"),
    (three_parameters, "takes 3 positional parameters"),
    (keyword_only, "requires the keyword input"),
    (requires_keyword, "requires the keyword shop"),
    (flag_for_context, "verbose, is no Context"),
    (bare_context, "ctx, is no Context"),
    (bare_input, "no annotation for the input"),
    (bare_output, "no annotation for the output"),
    (unresolvable, "cannot be resolved (NameError: name 'Decimal' is not defined)"),
    (awaitable_output, "declare the handler async def"),
    (plain_input, "input type Plain is not serializable"),
    (plain_output, "is not serializable"),
    (arbitrary_input, "input type Arbitrary is not serializable"),
    (callable_output, "output type Calls is not serializable"),
    (excluding_input, "input excludes the field kept"),
    (excluding_output, "output excludes the field kept, which has no default"),
    (generator, "is a generator"),
    (async_generator, "is a generator"),
    (Desk.refund, "takes 3 positional parameters"),
    (Desk(), "is not a function"),
    (Desk, "is not a function"),
    (functools.partial(takes_context), "is not a function"),
    (None, "is not a function"),
    ("orders.refund", "is not a function"),
]


@pytest.mark.parametrize(("handler", "said"), UNSOUND)
def test_anything_else_is_refused_and_the_message_says_what_to_do(
    handler: object, said: str
) -> None:
    assert [line for line in problems(handler) if said in line]


def test_a_model_that_was_never_completed_is_refused() -> None:
    class Incomplete(BaseModel):
        later: "Missing"  # type: ignore[name-defined]  # pyright: ignore[reportUndefinedVariable]  # noqa: F821, UP037

    def handler(input: Any) -> Receipt: ...

    handler.__annotations__["input"] = Incomplete

    assert [line for line in problems(handler) if "Incomplete is not serializable" in line]


def test_a_capability_decorated_twice_is_refused_by_name() -> None:
    once: Any = make(handler=look_up)
    twice = capability(
        "orders.twice", description="d", expose={"agent"}, side_effect="read", risk="low"
    )(once)

    with pytest.raises(RegistryError, match=r"orders\.twice \(.*Capability\): its handler is not"):
        CapabilityRegistry([twice])


def test_building_the_registry_builds_the_schemas_that_are_used_later() -> None:
    entry = make(handler=takes_everything)
    CapabilityRegistry([entry])

    assert {"input_schema", "output_schema"} <= vars(entry).keys()


def test_a_default_that_json_cannot_show_is_no_problem() -> None:
    class Odd(BaseModel):
        value: Any = object()

    def handler(input: Any) -> Receipt: ...

    handler.__annotations__["input"] = Odd

    assert CapabilityRegistry([make(handler=handler)])
