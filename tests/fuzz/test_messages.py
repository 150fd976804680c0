"""What travels, over bytes of any kind: a value or a ValueError, and nothing else."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from pydantic_core import from_json

from temperance import Actor
from temperance.runtime.approval import (
    ApprovalRecord,
    ApprovalRequest,
    Grant,
    read_comment,
    read_decision,
    read_person,
    read_source,
    read_withdrawal,
)
from temperance.runtime.approval_note import ApprovalNote
from temperance.runtime.call import Asked
from temperance.runtime.canonical import canonical_json
from temperance.runtime.envelope import read_envelope
from temperance.runtime.error import CODES, CapabilityError, ErrorInfo
from temperance.runtime.identity import business_key, check_identifier, idempotency_key
from temperance.runtime.messages import UNSEEN, Ask, Carry, Ending, Reply, Unseen
from temperance.runtime.names import SURFACES
from tests.fuzz.budget import budget
from tests.fuzz.objects import ANYTHING
from tests.fuzz.secret import SECRET
from tests.fuzz.values import DOCUMENTS, PLAIN, TEXTS, mutations

NOW = datetime(2026, 5, 3, 12, tzinfo=UTC)
ADA, BOB = Actor(id="ada", attributes={"team": [1, {"a": None}]}), Actor(id="bob", kind="service")
RUN = "01a22fc7-b752-73e1-b586-1325a565fe74"
GRANT = Grant("e-1", "0" * 64, NOW, BOB, ("manager",))
RECORD = ApprovalRecord(
    id="approval-e-1",
    execution_id="e-1",
    capability="pay.transfer",
    description="Move money.",
    actor=ADA,
    surface="agent",
    input_hash="0" * 64,
    shown={"a": 1},
    reasons=("It costs.",),
    types=("manager",),
    risk="high",
    side_effect="write",
    requested_at=NOW,
    expires_at=NOW,
)

WRITTEN: dict[str, bytes] = {
    "ask": Ask(ADA, "agent", RUN, 2, "s-1", "t-1", GRANT).to_json(),
    "short": Ask(BOB, "direct").to_json(),
    "reply": Reply(b'{"a":1}', attempts=2, errors=("TIMEOUT",), execution_id="e").to_json(),
    "usual": Reply(b'{"a":1}').to_json(),
    "asked": Reply(
        asked=Asked(("It costs.",), ("manager",), NOW, "0" * 64, b"{}", {"a": 1})
    ).to_json(),
    "unseen": UNSEEN.dump_json(
        Unseen(
            capability="a.b",
            ask='"agent - user:ada"',
            step="s",
            code="TIMEOUT",
            stage="input",
            effect="none",
            attempts=0,
        )
    ),
    "note": ApprovalNote(record=RECORD, types=("capability.approved",)).model_dump_json().encode(),
    "request": ApprovalRequest(record=RECORD, input="{}").model_dump_json().encode(),
    "envelope": b'{"execution_id":"e","capability":"a.b","status":"completed","output":{"a":1}}',
}
MESSAGES = DOCUMENTS | mutations(st.sampled_from([*WRITTEN.values()]))
NOTE, REQUEST = TypeAdapter(ApprovalNote), TypeAdapter(ApprovalRequest)

READERS: dict[str, Callable[[bytes], Any]] = {
    "Ask": Ask.from_json,
    "Reply": Reply.from_json,
    "Unseen": UNSEEN.validate_json,
    "ApprovalNote": NOTE.validate_json,
    "ApprovalRequest": REQUEST.validate_json,
    "envelope": read_envelope,
}


@budget(10)
@given(st.sampled_from([*READERS]), MESSAGES)
def test_bytes_of_any_kind_are_read_or_refused(reader: str, data: bytes) -> None:
    """By a ValueError and by nothing else."""
    try:
        READERS[reader](data)
    except ValueError:
        return


@budget(5)
@given(mutations(st.sampled_from([WRITTEN["ask"], WRITTEN["short"]])) | DOCUMENTS)
def test_a_request_context_that_is_read_is_written_and_read_the_same(data: bytes) -> None:
    """Whoever made it: what an attempt trusts is what it would have written itself."""
    try:
        ask = Ask.from_json(data)
    except ValueError:
        return
    again = Ask.from_json(ask.to_json())
    assert again == ask
    assert ask.surface in SURFACES


@budget(5)
@given(mutations(st.sampled_from([WRITTEN["reply"], WRITTEN["asked"]])) | DOCUMENTS)
def test_a_reply_that_is_read_is_written_and_read_the_same(data: bytes) -> None:
    """But for an output that is no JSON, which is refused where its type is known."""
    try:
        reply = Reply.from_json(data)
        if reply.output is not None:
            from_json(reply.output)
    except ValueError:
        return
    assert Reply.from_json(reply.to_json()) == reply


DETAILS = st.fixed_dictionaries(
    {},
    optional={
        "effect": st.sampled_from(["none", "possible", "done"]) | PLAIN,
        "stage": st.sampled_from(["handler", "policy"]) | PLAIN,
        "attempts": st.integers() | PLAIN,
        "errors": st.lists(TEXTS, max_size=3) | PLAIN,
        "id": PLAIN,
        "repeats": PLAIN,
        "cancelled": PLAIN,
        "retryable": PLAIN,
        "entered": PLAIN,
        "reason": PLAIN,
        "details": PLAIN,
    },
)


@budget(5)
@given(st.none() | st.sampled_from([*CODES]) | TEXTS, TEXTS, DETAILS | PLAIN | ANYTHING)
def test_a_failure_of_any_kind_is_an_ending_or_none(
    type_: str | None, message: str, detail: object
) -> None:
    """Foreign code may fail in the same activity."""
    ending = Ending.from_failure(type_, message, detail)
    if ending is not None:
        assert ending.info.code in CODES
        assert Ending.from_failure(ending.info.code, message, ending.details()) == ending


@budget(3)
@given(DETAILS | PLAIN | ANYTHING)
def test_heartbeat_details_of_any_kind_carry_something_or_nothing(detail: object) -> None:
    """They may be another library's, or another release's."""
    carry = Carry.from_details(detail)
    assert Carry.from_details(carry.details()) == carry


JUDGES: dict[str, Callable[[Any], object]] = {
    "decision": read_decision,
    "withdrawal": read_withdrawal,
    "person": read_person,
    "comment": read_comment,
}
DECISIONS = st.fixed_dictionaries(
    {},
    optional={
        "approved": st.booleans() | PLAIN,
        "approver": PLAIN | st.fixed_dictionaries({"id": TEXTS, "kind": TEXTS}),
        "by": PLAIN,
        "comment": TEXTS | PLAIN,
        "source": TEXTS | PLAIN,
        "more": PLAIN,
    },
)


@budget(4)
@given(st.sampled_from([*JUDGES]), DECISIONS | PLAIN)
def test_g3_decisions_of_any_kind_are_judged(judge: str, value: Any) -> None:
    """Refused with INPUT_INVALID, or read."""
    assert read_source(value) in {"cli", "web", "api"}
    try:
        JUDGES[judge](value)
    except CapabilityError as error:
        refusal = error
    else:
        return
    assert refusal.code == "INPUT_INVALID"


@budget(3)
@given(TEXTS, TEXTS, PLAIN)
def test_actors_of_any_kind_travel_or_are_refused(name: str, kind: Any, attributes: Any) -> None:
    """What is an actor is written and read the same, whatever its id is made of."""
    for given_kind in (kind, "user"):
        try:
            actor = Actor(id=name, kind=given_kind, attributes=attributes)
        except ValueError:
            continue
        ask = Ask(actor, "agent", RUN, correlation_id="c")
        assert Ask.from_json(ask.to_json()) == ask
        assert Actor.from_text(str(actor), actor.attributes) == actor


@budget(3)
@given(TEXTS)
def test_an_identifier_that_is_taken_can_be_written(value: str) -> None:
    """Steps, request ids and correlation ids end in history and in events."""
    try:
        check_identifier("step", value)
    except ValueError:
        return
    assert value.encode().decode() == value
    assert 1 <= len(value) <= 200
    assert len(idempotency_key(value)) == 36


@budget(3)
@given(st.lists(ANYTHING, max_size=3))
def test_g5_a_business_key_of_anything_is_a_key_or_a_value_error(parts: list[object]) -> None:
    """And the same parts give the same key."""
    try:
        key = business_key("a.b", tuple(parts))
    except ValueError:
        return
    assert len(key) == 36


@budget(5)
@given(ANYTHING)
def test_canonical_json_of_anything_is_written_or_a_value_error(value: object) -> None:
    """What is written reads the same, and is written the same again."""
    try:
        data = canonical_json(value)
    except ValueError:
        return
    assert canonical_json(from_json(data)) == data


@budget(3)
@given(st.sampled_from([*CODES]), TEXTS, TEXTS | st.none(), ANYTHING)
def test_g10_the_public_face_of_an_error_can_be_written_or_does_not_exist(
    code: Any, message: str, reason: str | None, details: Any
) -> None:
    """Details of any kind are replaced by a note where they are not JSON."""
    error = CapabilityError(code, message, reason=reason, details=details, cause=ValueError(SECRET))
    try:
        info = error.public()
    except ValueError:
        assert any(not text.isprintable() for text in (message, reason or ""))
        return
    assert ErrorInfo.model_validate_json(info.model_dump_json()).code == info.code
