"""What the schema of a type says of its values beyond their shape."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    Secret,
    SecretBytes,
    SecretStr,
    TypeAdapter,
    field_serializer,
)
from typing_extensions import TypedDict

from temperance.runtime.traits import Traits, traits_of
from tests.runtime.models import (
    Aliased,
    Excluding,
    Lenient,
    Node,
    Open,
    Payment,
    Sets,
    Strict,
    WordSet,
)


class Awkward(BaseModel):
    """Fields named like the keys of a core schema."""

    type: str = "set"
    metadata: set[str] = set()
    default: Lenient | None = None


@dataclass
class Plain:
    open: Open
    hidden: Annotated[int, Field(exclude=True)] = 1
    words: list[str] = field(default_factory=list[str])


class Loose(TypedDict):
    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]  # pyright: ignore[reportGeneralTypeIssues]
    name: str


class Maybe(BaseModel):
    maybe: int = Field(default=1, exclude_if=lambda value: value == 7)


def of(type_: Any) -> Traits:
    return traits_of(TypeAdapter(type_).core_schema)


@pytest.mark.parametrize(
    "type_", [Lenient, Open, list[Lenient], dict[str, Open | None], Plain, Loose, Awkward]
)
def test_extra_fields_that_are_allowed_somewhere_are_found(type_: Any) -> None:
    assert of(type_).says_extra


@pytest.mark.parametrize("type_", [Strict, Node, Payment, int, list[Strict], Excluding])
def test_a_type_that_says_nothing_of_extra_fields_says_nothing(type_: Any) -> None:
    assert not of(type_).says_extra


@pytest.mark.parametrize(
    "type_",
    [
        Sets,
        WordSet,
        Awkward,
        Open,
        Loose,
        Any,
        object,
        dict[str, Any],
        tuple[int, frozenset[int]],
        Iterable[int],
        Annotated[list[int], PlainSerializer(set)],
    ],
)
def test_values_that_may_hold_sets_are_found(type_: Any) -> None:
    assert of(type_).may_hold_sets


@pytest.mark.parametrize("type_", [Strict, Node, Payment, list[str], dict[str, int]])
def test_values_that_cannot_hold_sets_are_left_alone(type_: Any) -> None:
    assert not of(type_).may_hold_sets


def test_fields_that_are_not_written_are_found_with_whether_they_have_a_default() -> None:
    assert of(Excluding).excluded == (("kept", True),)
    assert of(Plain).excluded == (("hidden", True),)
    assert of(Maybe).excluded == (("maybe", True),)
    assert of(Strict).excluded == ()


class Revealing(BaseModel):
    """Writes its secret itself."""

    secret: SecretStr

    @field_serializer("secret", when_used="json")
    def reveal(self, secret: SecretStr) -> str:
        return secret.get_secret_value()


@pytest.mark.parametrize("type_", [SecretStr, list[SecretBytes | None], dict[str, Secret[int]]])
def test_g3_what_is_written_as_asterisks_is_found(type_: Any) -> None:
    """An approval binds what is written: two different secrets would be the same input."""
    assert of(type_).masked


@pytest.mark.parametrize("type_", [Revealing, Strict, Any])
def test_a_secret_that_its_type_writes_is_none_of_the_librarys_business(type_: Any) -> None:
    assert not of(type_).masked


def test_the_words_of_a_path_are_names_aliases_and_tags() -> None:
    assert {"means", "card", "kind"} <= of(Payment).names
    assert {"order_id", "orderId"} <= of(Aliased).names
    assert "name" not in of(dict[str, int]).names
