"""Values of every kind that may travel: one capability gives back what it is given."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Final, Generic, Literal, NamedTuple, TypeVar
from uuid import UUID

from pydantic import (
    AliasChoices,
    AliasGenerator,
    AliasPath,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    RootModel,
    Tag,
    computed_field,
)
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

from temperance import App, Capability, Context, Governance, Retry, capability

T = TypeVar("T")


class Colour(Enum):
    RED = "red"
    TWO = 2


class Level(IntEnum):
    LOW = 1


class Cat(BaseModel):
    kind: Literal["cat"] = Field("cat", alias="animalKind")
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"] = Field("dog", alias="animalKind")
    bark: str = Field("woof", validation_alias="says", serialization_alias="sound")


def kind_of(value: Any) -> str:
    """A discriminator in code: of a model, or of what one is made of."""
    try:
        return str(value["shape"])
    except TypeError:
        return str(value.shape)


class Round(BaseModel):
    shape: Literal["round"] = "round"
    radius: Decimal = Decimal("1.10")


class Square(BaseModel):
    shape: Literal["square"] = "square"
    side: float = 0.1


Shape = Annotated[
    Annotated[Round, Tag("round")] | Annotated[Square, Tag("square")], Discriminator(kind_of)
]
Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


class Node(BaseModel):
    value: int
    children: "list[Node]" = []
    later: "Later | None" = None


class Later(BaseModel):
    at: datetime
    back: Node | None = None


class Aliased(BaseModel):
    order_id: str = Field("", alias="orderId")
    path: int = Field(0, validation_alias=AliasPath("deep", "number"))  # type: ignore[pydantic-alias] # is what is tested
    choice: int = Field(3, validation_alias=AliasChoices("chosen", "picked"))  # type: ignore[pydantic-alias] # is what is tested


class Camel(BaseModel):  # type: ignore[pydantic-alias] # is what is tested
    model_config = ConfigDict(
        alias_generator=AliasGenerator(alias=to_camel), serialize_by_alias=True
    )

    some_words: frozenset[str] = frozenset()
    inner: Aliased | None = None  # type: ignore[pydantic-alias] # is what is tested


class OnlyByAlias(BaseModel):
    model_config = ConfigDict(validate_by_alias=True, validate_by_name=False, extra="forbid")

    word: str = Field("", alias="WORD")


class Computed(BaseModel):
    model_config = ConfigDict(extra="forbid")

    amount: Decimal

    @computed_field  # type: ignore[prop-decorator] # pydantic's own way to write one
    @property
    def doubled(self) -> Decimal:
        """Not a field: it does not travel."""
        return self.amount * 2


@dataclass
class Point:
    x: int
    tags: set[str] = field(default_factory=set[str])
    next: "Point | None" = None


class Pair(NamedTuple):
    left: int
    right: Decimal


class Labels(TypedDict, total=False):
    name: str
    when: datetime


class Page(BaseModel, Generic[T]):
    items: list[T]
    next: str | None = None


class Words(RootModel[list[str]]):
    pass


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)

    at: datetime
    amount: Decimal
    ids: set[UUID]
    pair: tuple[int, str]
    colour: Colour


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: str


class Everything(BaseModel):
    at: datetime
    day: date
    clock: time
    lasts: timedelta
    price: Decimal
    words: set[str]
    numbers: frozenset[Decimal]
    rows: set[tuple[int, str]]
    pet: Pet
    pets: list[Pet]
    shape: Shape
    node: Node
    aliased: Aliased
    camel: Camel
    only: OnlyByAlias
    computed: Computed
    point: Point
    pair: Pair
    labels: Labels
    page: Page[Cat]
    either: int | str
    number: float | int
    maybe: Decimal | None
    data: bytes
    by_day: dict[date, list[Decimal]]
    colour: Colour
    level: Level


UUID_: Final = UUID("5b0c1a52-3f0e-5d5e-9d2c-6f1f0b7f4a01")
AT: Final = datetime(2026, 5, 3, 12, 30, 1, 5, tzinfo=timezone(timedelta(hours=2, minutes=30)))
DOG: Final = Dog.model_validate({"animalKind": "dog", "says": "arf"})
NODE: Final = Node(value=1, children=[Node(value=2, later=Later(at=AT, back=Node(value=3)))])
ALIASED: Final = Aliased.model_validate({"orderId": "o", "deep": {"number": 4}, "picked": 5})
CAMEL: Final = Camel.model_validate({"someWords": ["b", "a"], "inner": ALIASED})

STRICT: Final = Strict(at=AT, amount=Decimal(1), ids={UUID_}, pair=(1, "a"), colour=Colour.RED)

EVERYTHING: Final = Everything(
    at=AT,
    day=date(2026, 5, 3),
    clock=time(1, 2, 3, 4),
    lasts=timedelta(days=2, microseconds=1),
    price=Decimal("12.50"),
    words={"delta", "alpha", "charlie", "bravo"},
    numbers=frozenset({Decimal("1.10"), Decimal("1E+30")}),
    rows={(1, "a"), (2, "b")},
    pet=DOG,
    pets=[Cat(animalKind="cat", lives=7), DOG],
    shape=Round(),
    node=NODE,
    aliased=ALIASED,
    camel=CAMEL,
    only=OnlyByAlias(WORD="w"),
    computed=Computed(amount=Decimal("0.10")),
    point=Point(1, {"q", "p"}, Point(2)),
    pair=Pair(1, Decimal("2.0")),
    labels={"name": "n", "when": AT},
    page=Page[Cat](items=[Cat(animalKind="cat")], next="n"),
    either="5",
    number=1,
    maybe=None,
    data=b"bytes",
    by_day={date(2026, 5, 3): [Decimal("1.0")]},
    colour=Colour.TWO,
    level=Level.LOW,
)

VALUES: Final[dict[str, tuple[Any, Any]]] = {
    "everything": (Everything, EVERYTHING),
    "second_attempt": (Everything, EVERYTHING),
    "strict": (Strict, STRICT),
    "loose": (Loose, Loose.model_validate({"name": "n", "more": [1, {"a": None}]})),
    "aliased": (Aliased, ALIASED),
    "camel": (Camel, CAMEL),
    "by_alias": (OnlyByAlias, OnlyByAlias(WORD="w")),
    "computed": (Computed, Computed(amount=Decimal("0.10"))),
    "forward": (Node, NODE),
    "dataclass": (Point, Point(1, {"q", "p"}, Point(2))),
    "named_tuple": (Pair, Pair(1, Decimal("2.0"))),
    "typed_dict": (Labels, {"name": "n", "when": AT}),
    "generic": (Page[Cat], Page[Cat](items=[Cat(animalKind="cat")])),
    "generic_of_union": (
        Page[Pet],
        Page[Pet](items=[Cat(animalKind="cat"), DOG]),
    ),
    "root": (Words, Words(["b", "a"])),
    "union": (Pet, DOG),
    "shape": (Shape, Square()),
    "text": (str, 'a "quoted" ✂ text'),
    "whole": (int, 2**70),
    "real": (float, 0.1),
    "truth": (bool, True),
    "money": (Decimal, Decimal("1.10")),
    "moment": (datetime, AT),
    "utc": (datetime, AT.astimezone(UTC)),
    "nothing": (type(None), None),
    "optional": (Cat | None, None),
    "models": (list[Cat], [Cat(animalKind="cat"), Cat(animalKind="cat", lives=1)]),
    "set": (frozenset[Decimal], frozenset({Decimal("1.10"), Decimal(2)})),
    "mapping": (dict[date, list[Pet]], {date(2026, 5, 3): [Cat(animalKind="cat")]}),
    "enum": (Colour, Colour.TWO),
    "anything": (Any, {"a": [1, None, 0.5, "x"]}),
}
"""A type and a value for each kind."""


def _carrier(kind: str, type_: Any) -> Capability[Any, Any]:
    def carry(input: Any, ctx: Context[None]) -> Any:
        if kind == "second_attempt" and ctx.attempt == 1:
            raise ConnectionError("come again")
        return input

    carry.__annotations__.update(input=type_, **{"return": type_})
    return capability(
        f"luggage.{kind}",
        description="Give back what is given.",
        expose={"agent", "direct"},
        side_effect="none",
        risk="low",
        retry=Retry(1, backoff=timedelta(milliseconds=1)),
    )(carry)


CARRIERS: Final = {kind: _carrier(kind, type_) for kind, (type_, _) in VALUES.items()}


def luggage() -> App:
    """The application."""
    return App(Governance(CARRIERS.values()), sinks=[])
