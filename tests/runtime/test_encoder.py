"""The kept JSON encoder writes what the standard library's own would."""

import json
from collections.abc import Callable
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temperance.runtime.encoder import json_encoder

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


class Colour(StrEnum):
    RED = "red"


class Size(IntEnum):
    LARGE = 3


def standard(*, sort_keys: bool = False) -> Callable[[object], str]:
    return json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, sort_keys=sort_keys).encode


@settings(max_examples=100)
@given(VALUES)
def test_it_writes_what_the_standard_encoder_writes(value: object) -> None:
    assert json_encoder()(value) == standard()(value)
    assert json_encoder(sort_keys=True)(value) == standard(sort_keys=True)(value)


@pytest.mark.parametrize(
    "value",
    [
        Colour.RED,
        Size.LARGE,
        {Colour.RED: Size.LARGE},
        {1: 2},
        {True: 1},
        {None: 1},
        {1.5: 1},
        (1,),
    ],
)
def test_values_of_derived_types_and_keys_that_are_no_strings_are_written_alike(
    value: object,
) -> None:
    assert json_encoder(sort_keys=True)(value) == standard(sort_keys=True)(value)


@pytest.mark.parametrize("value", [object(), {1, 2}, {(1, 2): 3}, {"a": 1, 2: 3}, b"bytes"])
def test_what_is_not_json_is_a_type_error(value: object) -> None:
    with pytest.raises(TypeError):
        json_encoder(sort_keys=True)(value)


@pytest.mark.parametrize("value", [float("nan"), [float("inf")], {"a": float("-inf")}])
def test_infinite_numbers_are_refused_unless_they_are_allowed(value: object) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_encoder(allow_nan=False)(value)
    assert json_encoder()(value) == standard()(value)


def test_a_value_that_contains_itself_ends_at_the_recursion_limit() -> None:
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        json_encoder()(endless)


def test_where_the_c_encoder_is_missing_the_same_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json.encoder, "c_make_encoder", None)
    value = {"b": ["é", None, True], "a": 1.5}
    assert json_encoder(sort_keys=True)(value) == '{"a":1.5,"b":["é",null,true]}'
