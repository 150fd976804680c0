"""The error of an execution: two faces, and only the public one leaves the worker (G9, G10)."""

import pickle
import traceback
from datetime import timedelta
from typing import Any, get_args

import pytest

from temperance.runtime.error import (
    CODES,
    CONCEALED,
    MOST_MESSAGE,
    CapabilityError,
    ConfigurationError,
    DeclaredError,
    ErrorCode,
    ErrorInfo,
    RegistryError,
    Stage,
)

SECRET = "hunter2"


def test_the_table_has_every_code_and_no_other() -> None:
    assert set(CODES) == set(get_args(ErrorCode))


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_a_public_sentence_and_a_stage(code: ErrorCode) -> None:
    entry = CODES[code]

    assert entry.message.endswith(".")
    assert entry.stage in get_args(Stage)
    assert not (entry.governed and entry.retryable), "a decision of the rules is not a fault"


@pytest.mark.parametrize("code", CODES)
def test_an_error_takes_from_the_table_what_it_is_not_given(code: ErrorCode) -> None:
    error = CapabilityError(code)

    assert error.public_message == CODES[code].message
    assert error.stage == CODES[code].stage
    assert error.retryable is CODES[code].retryable
    assert error.governed is CODES[code].governed


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("expose", [True, False])
def test_g10_no_text_of_an_error_carries_its_cause(code: ErrorCode, expose: bool) -> None:
    error = CapabilityError(
        code, expose=expose, cause=ValueError(SECRET), audit_reason=f"failed:{SECRET}"
    )
    faces = [str(error), repr(error), str(error.args), error.public().model_dump_json()]
    faces += traceback.format_exception(error)

    assert not [face for face in faces if SECRET in face]


@pytest.mark.parametrize("code", CODES)
def test_g10_what_is_not_exposed_is_concealed_byte_for_byte(code: ErrorCode) -> None:
    error = CapabilityError(
        code, SECRET, expose=False, reason=SECRET, details={"a": SECRET}, stage="output"
    )

    assert error.public() == ErrorInfo(
        code=CONCEALED, message="The operation failed.", stage="handler"
    )


def test_an_error_read_from_its_public_face_says_the_same() -> None:
    error = CapabilityError(
        "EXECUTION_FAILED", "Busy.", reason="BUSY", details=[1], retryable=False, stage="output"
    )

    assert CapabilityError.from_public(error.public()).public() == error.public()


def test_an_error_can_be_copied_between_processes() -> None:
    error = CapabilityError("TIMEOUT", "Too slow.", details={"seconds": 5})
    copied: CapabilityError = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes

    assert copied.public() == error.public()


@pytest.mark.parametrize(
    ("details", "shown"),
    [
        ({"after": timedelta(seconds=5)}, {"after": "PT5S"}),
        ((1, 2), [1, 2]),
        (float("nan"), None),
        (object(), {"omitted": "not JSON"}),
        ("x" * 100_000, {"omitted": "100002 bytes"}),
    ],
)
def test_details_of_any_kind_and_size_do_not_keep_an_error_from_being_reported(
    details: Any, shown: object
) -> None:
    assert CapabilityError("EXECUTION_FAILED", details=details).public().details == shown


def test_an_overlong_message_is_cut() -> None:
    assert len(CapabilityError("EXECUTION_FAILED", "x" * 10_000).public().message) == MOST_MESSAGE


class AlreadyRefunded(DeclaredError):
    reason = "ALREADY_REFUNDED"


def test_a_declared_error_is_public_and_final_unless_it_says_otherwise() -> None:
    declared = AlreadyRefunded("Refunded on 3 May.", details={"refund": "r-17"})
    error = declared.as_capability_error()

    assert error.public() == ErrorInfo(
        code="EXECUTION_FAILED",
        message="Refunded on 3 May.",
        stage="handler",
        retryable=False,
        reason="ALREADY_REFUNDED",
        details={"refund": "r-17"},
    )
    assert error.governed
    assert error.cause is declared


def test_a_declared_error_that_names_a_delay_is_retryable() -> None:
    error = DeclaredError("Busy.", retry_after=timedelta(seconds=9)).as_capability_error()

    assert error.retryable
    assert error.retry_after == timedelta(seconds=9)
    assert DeclaredError(retryable=True).as_capability_error().retryable


def test_a_declared_error_without_a_message_says_that_the_operation_failed() -> None:
    odd: Any = 7

    assert DeclaredError().message == "The operation failed."
    assert DeclaredError(odd).as_capability_error().public().message == "7"


def test_a_configuration_error_lists_every_problem_on_a_line_of_its_own() -> None:
    error = ConfigurationError(["a: is missing", "b: is odd"])

    assert error.problems == ("a: is missing", "b: is odd")
    assert str(error) == "2 problems found:\n  - a: is missing\n  - b: is odd"
    assert str(RegistryError(["a"])) == "1 problem found:\n  - a"
