"""Types of arbitrary shape for inputs and outputs, each with values that more or less fit."""

import datetime as dt
from collections.abc import Callable
from dataclasses import make_dataclass
from decimal import Decimal
from enum import Enum
from ipaddress import IPv4Address
from typing import Annotated, Any, Final, Literal, NamedTuple
from uuid import UUID

from hypothesis import reject
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    AnyUrl,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    PlainSerializer,
    PydanticUserError,
    RootModel,
    SecretBytes,
    SecretStr,
    WrapValidator,
    create_model,
)

from tests.fuzz.faults import FAULTS
from tests.fuzz.secret import SECRET
from tests.fuzz.values import PLAIN

# Types made while the tests run, which no type checker can know.
AnyType = Any


class Shape(NamedTuple):
    """A type.

    Args:
        type: Anything that may be the annotation of a handler.
        values: What may be given for it, mostly what it takes.
    """

    type: AnyType
    values: st.SearchStrategy[object]


class Colour(Enum):
    """A closed set of words."""

    RED = "red"
    BLUE = "blue"


WORDS: Final = st.text(max_size=8)

_ROOT: Final[Any] = RootModel

LEAVES: Final = (
    Shape(int, st.integers() | st.just("5")),
    Shape(str, WORDS),
    Shape(float, st.floats()),
    Shape(bool, st.booleans()),
    Shape(None, st.none()),
    Shape(Decimal, st.decimals() | st.just("1.10")),
    Shape(dt.datetime, st.datetimes() | st.datetimes(timezones=st.just(dt.UTC)) | st.integers()),
    Shape(dt.date, st.dates() | st.just("2026-05-03")),
    Shape(dt.time, st.times()),
    Shape(dt.timedelta, st.timedeltas() | st.just("PT5S") | st.floats()),
    Shape(bytes, st.binary(max_size=6) | WORDS),
    Shape(UUID, st.uuids()),
    Shape(SecretStr, st.just(SECRET) | st.builds(SecretStr, st.just(SECRET))),
    Shape(SecretBytes, st.just(SECRET.encode())),
    Shape(
        Annotated[SecretStr, PlainSerializer(lambda value: value.get_secret_value())],
        st.just("mine"),
    ),
    Shape(Any, PLAIN),
    Shape(object, PLAIN),
    Shape(JsonValue, PLAIN),
    Shape(Literal["a", 1, True], st.sampled_from(["a", 1, True, "1"])),
    Shape(Colour, st.sampled_from([*Colour]) | st.just("red")),
    Shape(AnyUrl, st.just("https://example.com/a?b=c")),
    Shape(IPv4Address, st.just("127.0.0.1")),
    Shape(Annotated[int, Field(gt=0, lt=10)], st.integers(-1, 11)),
    Shape(Annotated[str, Field(pattern="^a+$", max_length=3)], st.sampled_from(["a", "aaaa", ""])),
)


def _raiser(make: Callable[[], BaseException], when: str) -> Callable[..., Any]:
    def validate(value: object) -> object:
        if when == "always" or (when == "text" and isinstance(value, str)):
            raise make()
        return value

    return validate


def _guarded(inner: Shape, make: Callable[[], BaseException], when: str, kind: str) -> Shape:
    """Puts a validator or serializer of the application's own around a type."""
    validate = _raiser(make, when)

    def wrapped(value: object, inner: Callable[[object], object]) -> object:
        return inner(validate(value))

    around: Any = {
        "after": AfterValidator(validate),
        "before": BeforeValidator(validate),
        "wrap": WrapValidator(wrapped),
        "serializer": PlainSerializer(validate, return_type=Any),
    }[kind]
    return Shape(Annotated[inner.type, around], inner.values)


def _optional(inner: Shape) -> Shape:
    return Shape(inner.type | None if inner.type is not None else None, inner.values | st.none())


def _union(one: Shape, other: Shape) -> Shape:
    try:
        both = one.type | other.type
    except TypeError:
        return one
    return Shape(both, one.values | other.values)


def _few(values: st.SearchStrategy[object]) -> st.SearchStrategy[list[object]]:
    return st.lists(values, max_size=3)


def _container(inner: Shape, kind: str) -> Shape:
    """A container of what the shape describes."""
    generic, arguments, values = CONTAINERS[kind]
    return Shape(generic[arguments(inner.type)], values(inner.values))


CONTAINERS: Final[dict[str, tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]]] = {
    "list": (list, lambda type_: type_, _few),
    "set": (set, lambda type_: type_, _few),
    "frozenset": (frozenset, lambda type_: type_, _few),
    "row": (tuple, lambda type_: (type_, ...), lambda values: _few(values).map(tuple)),
    "tuple": (tuple, lambda type_: (type_, int), lambda values: st.tuples(values, st.integers())),
    "dict": (
        dict,
        lambda type_: (str, type_),
        lambda values: st.dictionaries(WORDS, values, max_size=3),
    ),
    "numbered": (
        dict,
        lambda type_: (int, type_),
        lambda values: st.dictionaries(st.integers(0, 9), values),
    ),
}


CONFIGS: Final = st.builds(
    ConfigDict,
    extra=st.sampled_from(["allow", "ignore", "forbid"]),
    frozen=st.booleans(),
    strict=st.booleans(),
    ser_json_inf_nan=st.sampled_from(["null", "constants", "strings"]),
    ser_json_bytes=st.sampled_from(["utf8", "base64", "hex"]),
    validate_default=st.booleans(),
    revalidate_instances=st.sampled_from(["always", "never"]),
)


@st.composite
def _models(draw: st.DrawFn, inner: st.SearchStrategy[Shape]) -> Shape:
    """A model, a dataclass or a root model of fields of other shapes."""
    kind = draw(st.sampled_from(["model", "model", "dataclass", "root"]))
    if kind == "root":
        field = draw(inner)
        try:
            return Shape(_ROOT[field.type], field.values)
        except (PydanticUserError, TypeError):
            reject()
    names = draw(st.lists(st.sampled_from(["order", "note", "a", "b_c"]), min_size=1, unique=True))
    fields = {name: draw(inner) for name in names}
    values = st.fixed_dictionaries(
        {}, optional={name: shape.values for name, shape in fields.items()}
    ) | st.fixed_dictionaries({name: shape.values for name, shape in fields.items()})
    if kind == "dataclass":
        made = make_dataclass("Made", [(name, shape.type) for name, shape in fields.items()])
        return Shape(made, values)
    told: dict[str, Any] = {}
    for name, shape in fields.items():
        more: dict[str, Any] = draw(
            st.sampled_from([{}, {"alias": f"{name}X"}, {"validation_alias": f"{name}V"}])
        )
        default = draw(st.sampled_from([..., ..., None, "text"]))
        told[name] = (shape.type, Field(default, **more))
    try:
        model: type[BaseModel] = create_model("Made", __config__=draw(CONFIGS), **told)
    except (PydanticUserError, TypeError):
        reject()  # such a class cannot be written down
    return Shape(model, values)


def _around(inner: st.SearchStrategy[Shape]) -> st.SearchStrategy[Shape]:
    return (
        st.builds(_optional, inner)
        | st.builds(_union, inner, inner)
        | st.builds(_container, inner, st.sampled_from([*CONTAINERS]))
        | st.builds(
            _guarded,
            inner,
            FAULTS,
            st.sampled_from(["never", "text", "always"]),
            st.sampled_from(["after", "before", "wrap", "serializer"]),
        )
        | _models(inner)
    )


SHAPES: Final[st.SearchStrategy[Shape]] = st.recursive(
    st.sampled_from(LEAVES), _around, max_leaves=6
)
"""Types of any shape; many of them no registry takes."""

MODELS: Final[st.SearchStrategy[Shape]] = _models(SHAPES)
"""Models of any shape, as most inputs are."""
