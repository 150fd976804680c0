"""One model of each kind that has been seen to go wrong on its way through JSON."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    ValidationInfo,
    computed_field,
    field_validator,
)
from typing_extensions import TypedDict


class Strict(BaseModel):
    name: str
    count: int = 3


class Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: str


class HoldsLenient(BaseModel):
    inner: list[Lenient]


class Aliased(BaseModel):
    order_id: str = Field(alias="orderId")
    card: str | None = Field(default=None, validation_alias="cardNumber", serialization_alias="no")


class Computed(BaseModel):
    amount: int

    @computed_field
    def doubled(self) -> int:
        return self.amount * 2


class Frozen(BaseModel, frozen=True):
    key: str
    pair: tuple[int, int] = (1, 2)


class WordSet(RootModel[set[str]]):
    pass


class Sets(BaseModel):
    words: set[str] = Field(default_factory=lambda: {"delta", "alpha", "charlie", "bravo"})
    nested: frozenset[frozenset[str]] = frozenset({frozenset({"x", "y"}), frozenset({"z"})})
    models: set[Frozen] = Field(
        default_factory=lambda: {Frozen(key="b"), Frozen(key="a"), Frozen(key="c", pair=(2, 1))}
    )
    pairs: set[tuple[str, int]] = Field(default_factory=lambda: {("b", 1), ("a", 2)})
    by_name: dict[str, set[str]] = Field(default_factory=lambda: {"k": {"q", "p"}})
    rooted: WordSet = Field(default_factory=lambda: WordSet({"v", "w", "u"}))
    anything: Any = Field(default_factory=lambda: {"deep": [{"n", "m"}]})


class Card(BaseModel):
    kind: Literal["card"] = "card"
    number: str


class Transfer(BaseModel):
    kind: Literal["transfer"] = "transfer"
    iban: str
    note: str | None = None


class Payment(BaseModel):
    means: Annotated[Card | Transfer, Field(discriminator="kind")]


class Node(BaseModel):
    value: int
    children: "list[Node]" = []
    later: "Later | None" = None


class Later(BaseModel):
    at: datetime


class Colour(Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    y: Decimal = Decimal("0.10")


class Typed(TypedDict, total=False):
    name: str


class Everything(BaseModel):
    at: datetime
    on: date
    lasts: timedelta
    price: Decimal
    colour: Colour
    id: UUID
    point: Point
    typed: Typed
    payment: Payment
    node: Node
    tags: frozenset[str]
    either: int | str
    data: bytes


class Deferred(BaseModel):
    model_config = ConfigDict(defer_build=True)

    name: str


def _no_secrets(value: str) -> str:
    raise ValueError(f"{value} is not allowed")


class Guarded(BaseModel):
    password: Annotated[str, AfterValidator(_no_secrets)]
    confirmed: bool = False

    @field_validator("confirmed")
    @classmethod
    def _confirmed(cls, value: bool, info: ValidationInfo) -> bool:
        assert value, f"{info.data} not confirmed"
        return value


class Excluding(BaseModel):
    shown: int
    kept: int = Field(default=1, exclude=True)


class ExcludingRequired(BaseModel):
    shown: int
    kept: int = Field(exclude=True)
