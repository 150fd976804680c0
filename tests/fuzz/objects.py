"""Python objects that no JSON stands for, and such as defend themselves against being looked at."""

import datetime
import decimal
import enum
import fractions
import pathlib
import types
import uuid
from collections import OrderedDict, UserDict, deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from tests.fuzz.secret import SECRET
from tests.fuzz.values import PLAIN


class Prickly:
    """Raises whenever it is touched.

    Args:
        error: What it raises.
    """

    def __init__(self, error: BaseException) -> None:
        object.__setattr__(self, "_error", error)

    def _raise(self, *_: object) -> Any:  # in place of methods of every type
        raise object.__getattribute__(self, "_error")

    def __getattr__(self, name: str) -> object:
        return self._raise()

    __repr__ = __str__ = __bytes__ = __format__ = _raise
    __eq__ = __hash__ = __bool__ = __len__ = __iter__ = _raise
    __contains__ = __getitem__ = __call__ = __int__ = __float__ = __index__ = _raise


def _another_class(_: object) -> type:
    return Plain


Chameleon: Final[Any] = type("Chameleon", (), {"__class__": property(_another_class)})
"""Claims to be of another class."""


class Yes:
    """Has every attribute, is equal to everything, and is callable."""

    def __getattr__(self, name: str) -> "Yes":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_: object, **__: object) -> "Yes":
        return self

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


class Text(str):
    """Text that cannot be written."""

    __slots__ = ()

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        raise ValueError(SECRET)

    def __str__(self) -> str:
        raise ValueError(SECRET)


class Row(list[object]):
    """A list that ends in an error."""

    def __iter__(self) -> Iterator[object]:
        yield 1
        raise ValueError(SECRET)


class Fields(dict[str, object]):
    """A mapping that cannot be walked."""

    def items(self) -> Any:  # never returns
        raise ValueError(SECRET)

    def values(self) -> Any:  # never returns
        raise ValueError(SECRET)

    def __iter__(self) -> Iterator[str]:
        raise ValueError(SECRET)


class Number(int):
    """A number that cannot be shown."""

    def __repr__(self) -> str:
        raise ValueError(SECRET)

    __str__ = __repr__


class Plain(BaseModel):
    """A model that is no input of anything."""

    name: str = "a"
    secret: SecretStr = SecretStr(SECRET)


class Dumping(BaseModel):
    """A model that cannot be written."""

    name: str = "a"

    def model_dump(self, **_: Any) -> Any:
        raise ValueError(SECRET)

    def model_dump_json(self, **_: Any) -> Any:
        raise ValueError(SECRET)

    def __iter__(self) -> Any:
        raise ValueError(SECRET)

    def __repr__(self) -> str:
        raise ValueError(SECRET)


@dataclass
class Loop:
    """A dataclass that contains itself."""

    inner: list[object] = field(default_factory=list[object])


class Colour(enum.Enum):
    """An enumeration of what is no JSON."""

    RED = object()


def _endless_list() -> object:
    rope: list[object] = []
    rope.append(rope)
    return rope


def _endless_mapping() -> object:
    knot: dict[str, object] = {}
    knot["a"] = {"b": [knot]}
    return knot


def _endless_dataclass() -> object:
    loop = Loop()
    loop.inner.append(loop)
    return loop


def _deep() -> object:
    nested: object = 1
    for _ in range(5_000):
        nested = [nested]
    return nested


def _counting() -> Generator[int]:
    yield 1
    raise ValueError(SECRET)


def _raising_model() -> object:
    name: Any = Prickly(ValueError(SECRET))
    return Plain.model_construct(name=name)


_MAKERS: Final[tuple[Callable[[], object], ...]] = (
    object,
    Chameleon,
    Yes,
    Dumping,
    Plain,
    Row,
    Fields,
    _endless_list,
    _endless_mapping,
    _endless_dataclass,
    _deep,
    _counting,
    _raising_model,
    lambda: Row([1]),
    lambda: Fields(a=1),
    lambda: Text("text"),
    lambda: Number(7),
    lambda: Prickly(ValueError(SECRET)),
    lambda: Prickly(RecursionError(SECRET)),
    lambda: Prickly(AttributeError(SECRET)),
    lambda: {"a": Prickly(ValueError(SECRET))},
    lambda: {Text("a"): 1},
    lambda: {1: "a", "1": "b", None: "c"},
    lambda: {("a",): 1},
    lambda: UserDict({"a": 1}),
    lambda: OrderedDict[str, int](a=1),
    lambda: types.MappingProxyType({"a": 1}),
    lambda: deque([1, 2]),
    lambda: {1, "a", None},
    lambda: frozenset({b"\xff"}),
    lambda: b"\xff\xfe",
    lambda: bytearray(b'{"order":"a"}'),
    lambda: memoryview(b"{}"),
    lambda: decimal.Decimal("NaN"),
    lambda: decimal.Decimal("1e999999"),
    lambda: fractions.Fraction(1, 3),
    lambda: complex(1, 2),
    lambda: datetime.datetime.max.replace(tzinfo=datetime.UTC),
    lambda: datetime.timedelta.max,
    lambda: datetime.date.min,
    lambda: uuid.UUID(int=0),
    lambda: pathlib.PurePosixPath("/a"),
    lambda: Colour.RED,
    lambda: Colour,
    lambda: ValueError(SECRET),
    lambda: types,
    lambda: int,
    lambda: iter([1]),
    lambda: range(3),
    lambda: lambda: SECRET,
    lambda: ...,
    lambda: NotImplemented,
    lambda: 10**5_000,
    lambda: SecretStr(SECRET),
    lambda: Loop,
)


def _call(make: Callable[[], object]) -> Any:
    return make()


OBJECTS: Final[st.SearchStrategy[Any]] = st.sampled_from(_MAKERS).map(_call)
"""Any of them, made anew for each example."""


def _under(value: object, keys: list[str]) -> object:
    for key in keys:
        value = {key: value}
    return value


ANYTHING: Final[st.SearchStrategy[Any]] = (
    PLAIN
    | OBJECTS
    | st.builds(_under, OBJECTS, st.lists(st.sampled_from(["order", "note", "a"]), max_size=2))
    | st.lists(OBJECTS | PLAIN, max_size=3)
)
"""JSON-like values, objects that are nothing of the kind, and both inside of each other."""
