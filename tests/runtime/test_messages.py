"""What travels between workflow and activity: little, and read without trusting it."""

from datetime import UTC, datetime
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from pydantic_core import to_json

from temperance.runtime.call import Asked
from temperance.runtime.error import CODES, ErrorInfo
from temperance.runtime.messages import UNSEEN, Carry, Ending, Reply, Unseen

TEXT = st.text(max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
CODES_OF_ATTEMPTS = st.lists(st.sampled_from([*CODES, "WorkerShutdown"]), max_size=3).map(tuple)
ASKED = Asked(("It costs.",), ("manager",), datetime(2026, 5, 3, tzinfo=UTC), "0" * 64)


def test_the_usual_reply_is_the_output_and_nothing_more() -> None:
    assert Reply(output=b'{"a":1}').to_json() == b'{"output":{"a":1}}'


REPLIES = st.builds(
    Reply,
    output=JSON.map(to_json),
    attempts=st.integers(1, 5),
    errors=CODES_OF_ATTEMPTS,
    execution_id=st.none() | TEXT,
    repeat_of=st.none() | TEXT,
    effect=st.sampled_from(["done", "none"]),
)


@given(REPLIES)
def test_a_reply_is_read_as_it_was_written(reply: Reply) -> None:
    read = Reply.from_json(reply.to_json())
    assert read == reply


def test_a_demand_for_an_approval_travels_too() -> None:
    reply = Reply(asked=ASKED, attempts=2, errors=("TIMEOUT",), execution_id="e-1")
    assert Reply.from_json(reply.to_json()) == reply


@pytest.mark.parametrize(
    "data", [b"", b"null", b"7", b"[]", b"{}", b"{", b'"secret"', b'{"approval": {"secret": 1}}']
)
def test_g10_what_is_no_reply_is_refused_without_being_repeated(data: bytes) -> None:
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 - the text is looked at below
        Reply.from_json(data)
    assert "secret" not in str(refusal.value)


ENDINGS = st.builds(
    Ending,
    info=st.builds(
        ErrorInfo,
        code=st.sampled_from([*CODES]),
        message=TEXT,
        stage=st.sampled_from(["handler", "policy", "transport"]),
        retryable=st.booleans(),
        reason=st.none() | TEXT,
        details=JSON,
    ),
    effect=st.sampled_from(["none", "possible", "done"]),
    attempts=st.integers(1, 5),
    errors=CODES_OF_ATTEMPTS,
    execution_id=st.none() | TEXT,
    repeat_of=st.none() | TEXT,
    cancelled=st.booleans(),
)


@given(ENDINGS)
def test_an_ending_is_read_as_it_was_told(ending: Ending) -> None:
    """Its code is the failure's type and its message the failure's own."""
    read = Ending.from_failure(ending.info.code, ending.info.message, ending.details())
    assert read == ending


@pytest.mark.parametrize(
    "detail", [None, 7, "text", [], {}, {"effect": "huge"}, {"effect": ["none"]}, {"stage": "x"}]
)
def test_a_failure_of_foreign_code_is_no_ending(detail: object) -> None:
    assert Ending.from_failure("TIMEOUT", "", detail) is None


def test_an_ending_with_a_code_of_another_release_is_a_plain_failure() -> None:
    detail = {"effect": "possible", "stage": "somewhere", "attempts": "many", "errors": 3}
    read = Ending.from_failure("NEW_CODE", "text", detail)
    assert read is not None
    assert (read.info.code, read.info.stage) == ("EXECUTION_FAILED", "handler")
    assert (read.attempts, read.errors) == (1, ())


@given(
    st.builds(
        Carry,
        errors=CODES_OF_ATTEMPTS,
        effect=st.sampled_from(["none", "possible"]),
        entered=st.booleans(),
    )
)
def test_what_one_attempt_tells_the_next_is_read_as_it_was_told(carry: Carry) -> None:
    assert Carry.from_details(carry.details()) == carry


@given(JSON)
def test_heartbeat_details_of_any_shape_can_be_read(detail: object) -> None:
    """They may be another library's: they carry nothing then."""
    read = Carry.from_details(detail)
    if not isinstance(detail, dict):
        assert read == Carry()


def test_an_outcome_that_no_worker_saw_travels_with_its_error() -> None:
    """Only the public code: what it stands for is looked up where it arrives."""
    unseen = Unseen(
        capability="orders.refund",
        ask='"agent"',
        step="s-1",
        code="TIMEOUT",
        stage="transport",
        effect="none",
        attempts=0,
        reason="nobody",
    )
    written = UNSEEN.dump_json(unseen, exclude_defaults=True)
    assert UNSEEN.validate_json(written) == unseen
    error = unseen.error()
    assert (error.code, error.stage, error.audit_reason) == ("TIMEOUT", "transport", "nobody")
    with pytest.raises(ValidationError):
        Unseen.model_validate(unseen.model_dump() | {"code": cast(Any, "NEW_CODE")})
