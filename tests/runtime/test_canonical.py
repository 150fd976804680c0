"""Canonical JSON: one form for one value, in every process (DESIGN section 7)."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temperance.runtime.canonical import HASH_LENGTH, canonical_hash, canonical_json, hash_bytes

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=50)
@given(VALUES)
def test_what_is_written_reads_back_as_the_same_value(value: object) -> None:
    assert json.loads(canonical_json(value)) == value


@settings(max_examples=50)
@given(st.dictionaries(TEXT, LEAVES, max_size=5))
def test_the_order_of_keys_does_not_count(value: dict[str, object]) -> None:
    backwards = dict(reversed(value.items()))

    assert canonical_json({"a": value}) == canonical_json({"a": backwards})


def test_keys_are_sorted_and_there_is_no_white_space() -> None:
    assert canonical_json({"b": [1, 2], "a": {"d": None, "c": True}}) == (
        b'{"a":{"c":true,"d":null},"b":[1,2]}'
    )


def test_text_is_utf_8_and_not_escaped() -> None:
    assert canonical_json("Zürich ☃") == '"Zürich ☃"'.encode()


def test_the_hash_is_sha_256_in_lower_case_hexadecimal() -> None:
    assert canonical_hash({"a": 1}) == sha256(b'{"a":1}').hexdigest()
    assert len(hash_bytes(b"")) == HASH_LENGTH


def test_sets_are_written_sorted_wherever_they_stand() -> None:
    assert canonical_json({"tags": {"b", "a"}}) == b'{"tags":["a","b"]}'
    assert canonical_json([frozenset({2, 1, 10})]) == b"[[1,10,2]]"


def test_a_tuple_inside_a_set_keeps_its_order() -> None:
    assert canonical_json({(1, 2)}) != canonical_json({(2, 1)})


def test_values_that_python_knows_and_json_does_not_are_written_as_pydantic_writes_them() -> None:
    class Colour(StrEnum):
        RED = "red"

    value = {"at": datetime(2026, 5, 3, tzinfo=UTC), "sum": Decimal("1.10"), "colour": Colour.RED}

    assert canonical_json(value) == b'{"at":"2026-05-03T00:00:00Z","colour":"red","sum":"1.10"}'


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), "\ud800", object(), {"a": object()}, {1: "a", "1": "b"}]
)
def test_what_is_not_json_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r".+"):
        canonical_json(value)


def test_keys_that_are_not_text_are_written_the_same_beside_any_neighbour() -> None:
    assert canonical_json({True: 1, None: 2}) == b'{"null":2,"true":1}'
    assert canonical_json({True: {1}}) == b'{"true":[1]}'


def test_a_value_nested_without_end_is_refused_and_not_a_crash() -> None:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]

    with pytest.raises(ValueError, match="nested too deeply"):
        canonical_json(value)
