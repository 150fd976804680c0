"""Models of plain fields are written by a shorter way, and come to the same."""

from collections.abc import Callable
from enum import IntEnum, StrEnum
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    RootModel,
    computed_field,
    field_serializer,
    field_validator,
)

from temperance.runtime.canonical import canonical_json
from temperance.runtime.flat import flat_of
from temperance.runtime.schema import Schema


class Word(StrEnum):
    ONE = "one"


class Number(IntEnum):
    ONE = 1


class Plain(BaseModel):
    model_config = ConfigDict(validate_default=True)

    name: str
    count: Annotated[int, Field(ge=0, alias="Count"), AfterValidator(lambda count: count)] = 0
    note: str | None = None
    share: float = 0.5
    sure: bool = False

    @field_validator("note")
    @classmethod
    def _short(cls, note: str | None) -> str | None:
        return note


SCHEMA = Schema(Plain)
WRITTEN = Plain(name="n")


def written_by_pydantic(value: Plain) -> bytes:
    return canonical_json(
        SCHEMA.serializer.to_python(
            value, mode="json", by_alias=False, round_trip=True, warnings="error"
        )
    )


@given(
    st.builds(
        Plain,
        name=st.text(),
        Count=st.integers(min_value=0),
        note=st.none() | st.text(),
        share=st.floats(allow_nan=False, allow_infinity=False),
        sure=st.booleans(),
    )
)
def test_the_short_way_writes_what_pydantic_writes(value: Plain) -> None:
    """The canonical form, and the JSON that goes with it, do not depend on which way is taken."""
    assert flat_of(SCHEMA.adapter.core_schema) is not None
    assert SCHEMA.canonical(value) == written_by_pydantic(value)
    data, canonical = SCHEMA.both_forms(value)
    assert (data, canonical) == (SCHEMA.to_json(value), SCHEMA.canonical(value))
    assert SCHEMA.canonical(SCHEMA.read(data)) == canonical


def test_optional_fields_are_plain_with_and_without_a_value() -> None:
    """Each combination of types that the model allows is one of its own."""
    flat = flat_of(SCHEMA.adapter.core_schema)
    assert flat is not None
    for value in (Plain(name="n"), Plain(name="n", note="x"), Plain(name="n", note="y")):
        assert flat.fields(value) is value.__dict__


@pytest.mark.parametrize(
    "change",
    [
        {"count": "1"},
        {"count": True},
        {"count": 1.0},
        {"count": Number.ONE},
        {"name": Word.ONE},
        {"name": None},
        {"note": 5},
        {"share": 1},
        {"more": 1},
    ],
    ids=str,
)
def test_a_value_of_another_type_is_left_to_pydantic(change: dict[str, object]) -> None:
    """What was put into a model without validation is refused as it always was, or written so."""
    flat = flat_of(SCHEMA.adapter.core_schema)
    value = WRITTEN.model_copy(update=change)
    assert flat is not None
    assert flat.fields(value) is None
    assert _outcome(SCHEMA.canonical, value) == _outcome(written_by_pydantic, value)


@pytest.mark.parametrize("missing", ["name", "sure"])
def test_a_value_without_one_of_its_fields_is_left_to_pydantic(missing: str) -> None:
    """A model can be made without validation, and lack what it says it has."""
    fields = {name: kept for name, kept in WRITTEN.__dict__.items() if name != missing}
    value = Plain.model_construct(**fields)
    object.__setattr__(value, "__dict__", fields)
    assert _outcome(SCHEMA.canonical, value) == _outcome(written_by_pydantic, value)


def test_a_number_that_json_does_not_have_is_refused() -> None:
    """Also where a float is all that there is to look at."""
    for share in (float("inf"), float("nan")):
        value = WRITTEN.model_copy(update={"share": share})
        for write in (SCHEMA.canonical, SCHEMA.to_json, SCHEMA.both_forms):
            with pytest.raises(ValueError, match=r"JSON"):
                write(value)


class Subclass(Plain):
    more: str = ""


class Nested(BaseModel):
    plain: Plain


class Several(BaseModel):
    names: list[str]


class Extra(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: str


class Excluded(BaseModel):
    name: str = Field(default="", exclude=True)


class OwnWriter(BaseModel):
    name: str

    @field_serializer("name")
    def _loud(self, name: str) -> str:
        return name.upper()


class OwnAnnotation(BaseModel):
    name: Annotated[str, PlainSerializer(str.upper)]


class Constants(BaseModel):
    model_config = ConfigDict(ser_json_inf_nan="constants")

    share: float


class Root(RootModel[str]):
    pass


class Empty(BaseModel):
    pass


@pytest.mark.parametrize(
    "model",
    [Nested, Several, Extra, Excluded, OwnWriter, OwnAnnotation, Constants, Root, Empty, str],
)
def test_whatever_is_not_plain_throughout_is_left_to_pydantic(model: type) -> None:
    """A model that writes anything by a rule of its own has no short way."""
    assert flat_of(Schema(model).adapter.core_schema) is None


def test_an_instance_of_a_subclass_is_left_to_pydantic() -> None:
    """Its fields may be more, and of other types."""
    flat = flat_of(SCHEMA.adapter.core_schema)
    assert flat is not None
    assert flat.fields(Subclass(name="n")) is None


class WithComputed(BaseModel):
    name: str

    @computed_field  # type: ignore[prop-decorator] # as pydantic documents it
    @property
    def loud(self) -> str:
        return self.name.upper()


def test_computed_fields_are_no_part_of_either_form() -> None:
    """They are not read back, so they are not written."""
    schema = Schema(WithComputed)
    assert schema.both_forms(WithComputed(name="n")) == (b'{"name":"n"}', b'{"name":"n"}')


def _outcome(write: Callable[[Plain], bytes], value: Plain) -> object:
    try:
        return write(value)
    except ValueError:
        return ValueError
