"""Ids and keys: the documented formula, computed here a second time (G5, DESIGN section 6)."""

import json
import os
import subprocess
import sys
from uuid import UUID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from temperance.runtime.actor import MAX_IDENTIFIER
from temperance.runtime.canonical import canonical_hash
from temperance.runtime.identity import (
    automatic_step,
    business_key,
    check_identifier,
    idempotency_key,
    random_id,
    standalone_execution_id,
    workflow_execution_id,
)
from temperance.runtime.metadata import LONGEST_ID

PRINTABLE = st.text(st.characters(codec="ascii", min_codepoint=33), min_size=1, max_size=20)


def formula(namespace: str, parts: list[str]) -> str:
    name = json.dumps(parts, separators=(",", ":"), ensure_ascii=False)
    return str(uuid5(UUID(namespace), name))


@given(PRINTABLE, PRINTABLE, PRINTABLE, PRINTABLE)
def test_g5_the_execution_id_of_a_workflow_step_is_the_documented_formula(
    namespace: str, workflow: str, run: str, step: str
) -> None:
    expected = formula("5b0c1a52-3f0e-5d5e-9d2c-6f1f0b7f4a01", [namespace, workflow, run, step])

    assert workflow_execution_id(namespace, workflow, run, step) == expected


def test_g5_the_execution_id_of_a_standalone_activity_is_the_documented_formula() -> None:
    expected = formula("5b0c1a52-3f0e-5d5e-9d2c-6f1f0b7f4a01", ["default", "request-1", "run-1"])

    assert standalone_execution_id("default", "request-1", "run-1") == expected


def test_g5_the_key_is_a_version_5_uuid_of_36_characters_made_of_the_execution_id() -> None:
    execution_id = workflow_execution_id("default", "w", "r", "orders.refund-1f3a9c07-1")
    key = idempotency_key(execution_id)

    assert key == str(uuid5(UUID("5b0c1a52-3f0e-5d5e-9d2c-6f1f0b7f4a02"), execution_id))
    assert UUID(key).version == 5
    assert len(key) == 36
    assert key != execution_id


def test_g5_the_formula_never_changes() -> None:
    execution_id = workflow_execution_id("default", "w", "r", "s")

    assert execution_id == "3271e45d-54b9-5548-b4c8-452ac5d8ae96"
    assert idempotency_key(execution_id) == "62ca5ca5-37d0-531c-8e13-53e7f1a2858a"


@given(st.lists(PRINTABLE, min_size=4, max_size=4), st.integers(0, 3), PRINTABLE)
def test_g5_any_part_that_differs_makes_another_execution(
    parts: list[str], position: int, other: str
) -> None:
    changed = [*parts[:position], parts[position] + other, *parts[position + 1 :]]

    assert workflow_execution_id(*parts) != workflow_execution_id(*changed)


def test_g5_parts_cannot_be_shifted_into_one_another() -> None:
    assert workflow_execution_id("a", "b", "c", "d") != workflow_execution_id("a", "b,c", "", "d")
    assert workflow_execution_id('a","b', "c", "d", "e") != workflow_execution_id(
        "a", 'b","c', "d", "e"
    )


def test_a_business_key_is_the_same_for_equal_parts_of_one_capability() -> None:
    assert business_key("orders.refund", ("o-1", 5)) == business_key("orders.refund", ("o-1", 5))
    assert business_key("orders.refund", ("o-1", 5)) != business_key("orders.refund", ("o-1", "5"))
    assert business_key("orders.refund", ("o-1",)) != business_key("orders.cancel", ("o-1",))


@pytest.mark.parametrize("parts", [(), (object(),), (float("nan"),)])
def test_a_business_key_of_nothing_or_of_what_is_not_json_is_refused(
    parts: tuple[object, ...],
) -> None:
    with pytest.raises(ValueError, match=r".+"):
        business_key("orders.refund", parts)


def test_random_ids_are_version_4_uuids_and_all_differ() -> None:
    """Also beyond what the system is asked for at a time."""
    ids = [random_id() for _ in range(200)]
    assert len(set(ids)) == len(ids)
    for text in ids:
        assert UUID(text).version == 4
        assert str(UUID(text)) == text


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_gives_other_random_ids_than_its_parent() -> None:
    """What the parent keeps for later is not given twice."""
    random_id()
    code = (
        "import os; from temperance.runtime.identity import random_id; random_id(); "
        "os.fork() or (print(*(random_id() for _ in range(3)), flush=True), os._exit(0)); "
        "os.wait(); print(*(random_id() for _ in range(3)))"
    )
    lines = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    assert len(set(lines)) == len(lines) == 6


def test_an_automatic_step_follows_what_is_asked() -> None:
    raw_hash = canonical_hash({"order_id": "o-1"})

    assert automatic_step("orders.refund", raw_hash, 2) == f"orders.refund-{raw_hash[:8]}-2"


def test_a_step_of_the_longest_capability_id_is_an_identifier() -> None:
    step = automatic_step("a" * LONGEST_ID, canonical_hash(None), 1_000_000)

    assert check_identifier("step", step) == step


@pytest.mark.parametrize(
    "value",
    ["", " ", "\t", " a", "a ", "a\n", "a\x00b", "a\x7fb", "a\u200bb", "a\u202eb", "\ud800"],
)
def test_an_id_that_is_empty_blank_or_not_printable_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match=r"^request_id (is|has)") as raised:
        check_identifier("request_id", value)

    assert "give" in str(raised.value)


def test_an_overlong_id_is_refused_without_being_repeated() -> None:
    value = "x" * (MAX_IDENTIFIER + 1)

    with pytest.raises(ValueError, match="201 characters") as raised:
        check_identifier("step", value)

    assert value not in str(raised.value)


@pytest.mark.parametrize("value", ["a", "refund order 7", "x" * MAX_IDENTIFIER, "Zürich/ü:7"])
def test_any_other_printable_id_is_taken_unchanged(value: str) -> None:
    assert check_identifier("step", value) == value
