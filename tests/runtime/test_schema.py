"""Validation, writing and hashing of inputs and outputs: what one side writes, the other reads."""

import json
import math
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Generic, TypeVar
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from temperance.runtime.canonical import hash_bytes
from temperance.runtime.schema import MOST_PROBLEMS, Schema, problems_of
from tests.runtime.models import (
    Aliased,
    Card,
    Colour,
    Computed,
    Deferred,
    Everything,
    Frozen,
    Guarded,
    HoldsLenient,
    Later,
    Lenient,
    Node,
    Open,
    Payment,
    Point,
    Sets,
    Strict,
    Transfer,
    WordSet,
)

EVERYTHING = Everything(
    at=datetime(2026, 5, 3, 12, tzinfo=UTC),
    on=date(2026, 5, 3),
    lasts=timedelta(hours=1),
    price=Decimal("12.50"),
    colour=Colour.RED,
    id=UUID("5b0c1a52-3f0e-5d5e-9d2c-6f1f0b7f4a01"),
    point=Point(1),
    typed={"name": "n"},
    payment=Payment(means=Transfer(iban="CH1")),
    node=Node(value=1, children=[Node(value=2, later=Later(at=datetime(2026, 1, 1, tzinfo=UTC)))]),
    tags=frozenset({"b", "a"}),
    either="5",
    data=b"bytes",
)


T = TypeVar("T")


def hash_of(type_: Any, data: str) -> str:
    schema = Schema[Any](type_)
    return hash_bytes(schema.canonical(schema.from_json(data)))


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (Everything, EVERYTHING),
        (Sets, Sets(anything=None)),
        (Aliased, Aliased.model_validate({"orderId": "o-1", "cardNumber": "4"})),
        (Computed, Computed(amount=2)),
        (Open, Open.model_validate({"name": "n", "more": [1]})),
        (WordSet, WordSet({"b", "a"})),
        (Point, Point(1, Decimal(2))),
        (int, 5),
        (None, None),
        (list[Strict], [Strict(name="n")]),
    ],
)
def test_what_is_written_is_read_back_as_the_same_value(type_: Any, value: object) -> None:
    schema = Schema[Any](type_)
    data = schema.to_json(value)

    assert schema.from_json(data) == value
    assert schema.read(data) == value
    assert schema.both_forms(value) == (data, schema.canonical(value))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_both_forms_are_those_that_are_written_one_by_one(value: object) -> None:
    anything: Any = Any
    schema = Schema[Any](anything)

    try:
        expected = schema.to_json(value), schema.canonical(value)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011 - whichever of the two could not be written
            schema.both_forms(value)
    else:
        assert schema.both_forms(value) == expected


def test_a_field_that_the_type_does_not_have_is_refused_at_every_depth() -> None:
    schema = Schema(list[Strict])

    with pytest.raises(ValidationError, match="Extra inputs"):
        schema.from_json('[{"name": "n", "admin": true}]')
    with pytest.raises(ValidationError, match="Extra inputs"):
        schema.from_python([{"name": "n", "admin": True}])


def test_a_model_that_says_how_to_treat_extra_fields_is_taken_at_its_word() -> None:
    assert Schema(Lenient).from_json('{"name": "n", "more": 1}') == Lenient(name="n")
    assert Schema(HoldsLenient).from_json('{"inner": [{"name": "n", "more": 1}]}').inner
    assert Schema(Open).from_json('{"name": "n", "more": 1}').model_extra == {"more": 1}


def test_fields_are_accepted_by_name_and_by_alias_and_written_by_name() -> None:
    schema = Schema(Aliased)
    by_alias = schema.from_json('{"orderId": "o-1", "cardNumber": "4"}')

    assert schema.from_json('{"order_id": "o-1", "card": "4"}') == by_alias
    assert json.loads(schema.to_json(by_alias)) == {"order_id": "o-1", "card": "4"}


def test_computed_fields_do_not_travel_and_are_passed_over_when_they_do() -> None:
    schema = Schema(Computed)

    assert schema.to_json(Computed(amount=2)) == b'{"amount":2}'
    assert schema.read(b'{"amount": 2, "doubled": 4}') == Computed(amount=2)


def test_an_instance_built_without_validation_cannot_be_written() -> None:
    broken: Any = "many"
    schema = Schema(Strict)

    with pytest.raises(ValueError, match="int"):
        schema.to_json(Strict.model_construct(name="n", count=broken))
    with pytest.raises(ValueError, match="int"):
        schema.canonical(Strict.model_construct(name="n", count=broken))


def test_a_model_that_puts_off_its_validator_is_built_once_and_kept() -> None:
    schema = Schema(Deferred)

    assert type(schema.validator).__module__.startswith("pydantic_core")
    assert schema.from_json('{"name": "n"}') == Deferred(name="n")


@pytest.mark.parametrize(
    "data",
    [
        '{"name": "n", "count": 5}',
        '{"count": 5, "name": "n"}',
        '{ "count" : "5", "name" : "n" }',
        '{"count": 5.0, "name": "n"}',
    ],
)
def test_key_order_white_space_and_coercion_do_not_change_the_hash(data: str) -> None:
    assert hash_of(Strict, data) == hash_of(Strict, '{"name":"n","count":5}')


def test_a_default_left_out_does_not_change_the_hash() -> None:
    assert hash_of(Strict, '{"name": "n"}') == hash_of(Strict, '{"name": "n", "count": 3}')


@pytest.mark.parametrize("data", ['{"name": "n", "count": 4}', '{"name": "N"}'])
def test_any_other_value_changes_the_hash(data: str) -> None:
    assert hash_of(Strict, data) != hash_of(Strict, '{"name": "n"}')


def test_the_variant_of_a_union_is_part_of_the_hash() -> None:
    card = hash_of(Payment, '{"means": {"kind": "card", "number": "1"}}')

    assert card != hash_of(Payment, '{"means": {"kind": "transfer", "iban": "1"}}')
    assert hash_of(int | str, "5") != hash_of(int | str, '"5"')


def test_an_extra_field_that_a_model_allows_is_part_of_the_hash() -> None:
    assert hash_of(Open, '{"name": "n", "more": 1}') != hash_of(Open, '{"name": "n", "more": 2}')


def test_the_order_in_which_a_set_was_sent_does_not_change_the_hash() -> None:
    assert hash_of(set[str], '["a", "b"]') == hash_of(set[str], '["b", "a", "b"]')
    assert hash_of(WordSet, '["a", "b"]') == hash_of(WordSet, '["b", "a"]')
    assert hash_of(set[Frozen], '[{"key": "a"}, {"key": "b"}]') == hash_of(
        set[Frozen], '[{"key": "b"}, {"key": "a"}]'
    )


def test_the_order_of_a_list_or_of_a_tuple_inside_a_set_does() -> None:
    assert hash_of(list[str], '["a", "b"]') != hash_of(list[str], '["b", "a"]')
    assert hash_of(set[tuple[int, int]], "[[1, 2]]") != hash_of(set[tuple[int, int]], "[[2, 1]]")
    assert hash_of(set[Frozen], '[{"key": "a", "pair": [1, 2]}]') != hash_of(
        set[Frozen], '[{"key": "a", "pair": [2, 1]}]'
    )


def test_sets_hash_equal_in_processes_whose_sets_have_another_order() -> None:
    script = (
        "import sys; sys.path.append(sys.argv[1])\n"
        "from tests.runtime.models import Sets\n"
        "from temperance.runtime.schema import Schema\n"
        "print(list(Sets().words), Schema(Sets).canonical(Sets()).decode(), sep='|')"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-P", "-c", script, str(Path(__file__).parents[2])],
            env={"PYTHONHASHSEED": seed, "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "2")
    ]
    printed = [process.communicate(timeout=30)[0].strip().split("|") for process in running]

    assert printed[0][0] != printed[1][0], "both processes walked the set in one order"
    assert printed[0][1] == printed[1][1] == Schema(Sets).canonical(Sets()).decode()


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_json_does_not_have_has_no_canonical_form(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        Schema(float).canonical(number)


def test_the_json_schema_of_an_input_speaks_aliases_and_that_of_an_output_names() -> None:
    schema = Schema(Aliased)

    assert "orderId" in str(schema.json_schema("validation")["properties"])
    assert "order_id" in str(schema.json_schema("serialization")["properties"])


def problems(type_: Any, data: str) -> list[Any]:
    with pytest.raises(ValidationError) as raised:
        Schema[Any](type_).from_json(data)
    return problems_of(raised.value)


def test_g10_a_problem_names_the_path_and_the_reason() -> None:
    assert problems(list[Strict], '[{"count": "x"}]') == [
        {"path": "0.name", "type": "missing", "message": "Field required"},
        {
            "path": "0.count",
            "type": "int_parsing",
            "message": "Input should be a valid integer, unable to parse string as an integer",
        },
    ]


@pytest.mark.parametrize(
    ("type_", "data"),
    [
        (Strict, '{"name": "n", "count": "hunter2"}'),
        (Guarded, '{"password": "hunter2", "confirmed": true}'),
        (Guarded, '{"password": "hunter2"}'),
        (Payment, '{"means": {"kind": "hunter2"}}'),
        (UUID, '"hunter2"'),
        (datetime, '"hunter2"'),
        (date, '"hunter2"'),
        (Decimal, '"hunter2"'),
        (Colour, '"hunter2"'),
        (bytes, "7"),
        (set[Card], '[{"number": "hunter2"}]'),
        (Strict, '{"name": "hunter2",'),
        (int | bool, '"hunter2"'),
    ],
)
def test_g10_no_problem_repeats_a_value(type_: Any, data: str) -> None:
    assert "hunter2" not in str(problems(type_, data))


def test_g10_not_even_a_letter_of_a_value_is_repeated() -> None:
    assert problems(UUID, '"s"')[0]["message"] == "The value is not valid"


def test_g10_a_text_of_the_applications_own_is_concealed() -> None:
    class Own(BaseModel):
        value: int

    adapter = TypeAdapter(Own)
    with pytest.raises(ValidationError) as raised:
        adapter.validate_python({"value": "x"})
    own = ValidationError.from_exception_data(
        "Own",
        [{"type": "assertion_error", "loc": ("value",), "input": 1, "ctx": {"error": "hunter2"}}],
    )

    assert "integer" in str(problems_of(raised.value))
    assert problems_of(own) == [
        {"path": "value", "type": "assertion_error", "message": "The value is not valid"}
    ]


def test_many_problems_are_counted_and_not_all_named() -> None:
    found = problems(list[int], json.dumps(["x"] * (MOST_PROBLEMS + 7)))

    assert len(found) == MOST_PROBLEMS + 1
    assert found[-1]["message"] == "7 more problems"


def test_a_path_of_any_depth_is_short() -> None:
    found = problems(dict[str, dict[str, int]], json.dumps({"k" * 500: {"l" * 500: "x"}}))

    assert len(found[0]["path"]) < 200


class Measured(BaseModel):
    value: float | None = None
    more: dict[str, Any] = Field(default_factory=dict[str, Any])


class MeasuredAsText(BaseModel):
    model_config = ConfigDict(ser_json_inf_nan="strings")

    value: float | None = None
    other: int | None = None


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_does_not_have_is_never_written_as_null(number: float) -> None:
    """Pydantic writes null, which an optional field reads back without a word."""
    values = [Measured(value=number), Measured(more={"deep": [{"n": number}]})]
    for value in values:
        with pytest.raises(ValueError, match="no JSON form"):
            Schema(Measured).to_json(value)
        with pytest.raises(ValueError, match="JSON"):
            Schema(Measured).canonical(value)

    text = MeasuredAsText(value=number)
    assert str(Schema(MeasuredAsText).read(Schema(MeasuredAsText).to_json(text))) == str(text)


def test_g10_what_is_wrong_with_an_output_does_not_name_the_keys_of_its_mappings() -> None:
    """A path has the words of the type; whatever else a handler's output holds is not shown."""
    schema = Schema(dict[str, Aliased])
    with pytest.raises(ValidationError) as raised:
        schema.read(b'{"sk-12345": {"orderId": 5}}')

    assert paths(problems_of(raised.value)) == ["sk-12345.orderId"]
    assert paths(problems_of(raised.value, schema.traits.names)) == ["*.orderId"]


def paths(found: list[Any]) -> list[str]:
    return [problem["path"] for problem in found]


class Stranger(BaseModel):
    secret: str = "s"


class Holding(TypedDict):
    point: Point
    nodes: list[Node]


class Sized(BaseModel, Generic[T]):
    items: list[T] = []


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (Measured, Stranger()),
        (Measured | None, Stranger()),
        (list[Measured], [Measured(), Stranger()]),
        (dict[str, Measured], {"k": Stranger()}),
        (Point, Stranger()),
        (Sized[int], Stranger()),
        (Holding, {"point": Point(1), "nodes": [Stranger()]}),
    ],
)
def test_a_value_of_another_class_is_refused_though_all_fields_have_defaults(
    type_: Any, value: object
) -> None:
    """Pydantic writes `{}` for it, which reads back as an output that the handler never gave."""
    with pytest.raises(ValueError, match="another class"):
        Schema[Any](type_).to_json(value)


class Derived(Measured):
    more_still: int = 1


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (Measured, Derived()),
        (Sized[int], Sized(items=[1])),
        (Any, Stranger()),
        (list[Any], [Stranger()]),
        (Measured | Any, Stranger()),
        (Node, Node(value=1)),
        (Holding, {"point": Point(1), "nodes": [Node(value=1)]}),
        (list[Holding], [{"point": Point(1), "nodes": [Node(value=1)]}]),
    ],
)
def test_a_value_of_a_class_that_the_type_allows_is_written(type_: Any, value: object) -> None:
    assert Schema[Any](type_).to_json(value)
