"""An approval by a person: what is asked, what was decided, what an attempt is shown of it (G3).

    ApprovalRequest   what starts an approval: the value that will run, and how it is shown
    ApprovalRecord    what anybody may see of it: never the value itself
    DecisionInput     what a decider sends, judged by the approval itself
    Grant             what an approved attempt carries, checked again right before the handler

The hash binds the full input, the display goes through ``redact.approval_input``; both are derived
from the one validated value (DESIGN section 7).
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StrictBool,
    StringConstraints,
    ValidationError,
)

from .actor import Actor
from .error import CapabilityError, ErrorCode
from .names import Risk, SideEffect, Surface

ApprovalState = Literal["pending", "approved", "rejected", "expired", "cancelled", "consumed"]
"""``approved`` until the execution it authorizes has begun, ``consumed`` from then on."""

DecisionSource = Literal["cli", "web", "api"]
"""Through which door a decision came."""

MAX_COMMENT: Final = 2000
"""Longest comment of a decider, in characters."""

Comment = Annotated[str, StringConstraints(max_length=MAX_COMMENT)]

REFUSAL: Final[dict[ApprovalState, ErrorCode]] = {
    "approved": "APPROVAL_CONSUMED",
    "consumed": "APPROVAL_CONSUMED",
    "rejected": "APPROVAL_REJECTED",
    "expired": "APPROVAL_EXPIRED",
    "cancelled": "APPROVAL_CANCELLED",
}
"""What a decision that comes too late is refused with, by the state it finds."""


def approval_id(execution_id: str) -> str:
    """The workflow id of an execution's approval: it can be started once (DESIGN section 7)."""
    return f"approval-{execution_id}"


class DecisionInput(BaseModel):
    """A decision as it arrives; nothing in it is trusted before the approval has judged it.

    Args:
        approved: Whether to run.
        approver: Kind and id of whoever decides, as JSON.
        comment: Free text, kept in the record.
        source: Through which door.
    """

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    approved: StrictBool
    approver: JsonValue = Field(default=None, repr=False)
    comment: JsonValue = None
    source: JsonValue = "api"


class CancelInput(BaseModel):
    """A request to withdraw an approval.

    Args:
        by: Kind and id of whoever withdraws it, as JSON.
        comment: Free text.
        source: Through which door.
    """

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    by: JsonValue = Field(default=None, repr=False)
    comment: JsonValue = None
    source: JsonValue = "api"


class ApprovalDecision(BaseModel):
    """A decision that was accepted.

    Args:
        by: Who decided, or withdrew.
        at: When, UTC.
        comment: The decider's words.
        source: Through which door.
    """

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    by: Actor
    at: datetime
    comment: Comment | None = None
    source: DecisionSource = "api"


class ApprovalRecord(BaseModel):
    """What anybody who may look at approvals sees of one.

    Args:
        id: The approval's workflow id.
        execution_id: The execution it authorizes.
        capability: What is to be run.
        description: What that does, in the capability's own words.
        actor: Who asked; never the one who decides.
        surface: Through which door the request came.
        input_hash: SHA-256 of the canonical validated input.
        shown: The input after ``redact.approval_input``.
        reasons: Why a person must decide.
        types: Who may decide, in the application's own words.
        risk: As declared.
        side_effect: As declared.
        workflow_id: The asking workflow, or ``None`` for a single request.
        requested_at: UTC.
        expires_at: UTC; a decision counts until then.
        state: Where it stands.
        decision: Who decided, once somebody did.
    """

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    id: str
    execution_id: str
    capability: str
    description: str
    actor: Actor
    surface: Surface
    input_hash: str
    shown: JsonValue = Field(repr=False)
    reasons: tuple[str, ...]
    types: tuple[str, ...] = ()
    risk: Risk
    side_effect: SideEffect
    workflow_id: str | None = None
    requested_at: datetime
    expires_at: datetime
    state: ApprovalState = "pending"
    decision: ApprovalDecision | None = None


class ApprovalRequest(BaseModel):
    """What an approval is started with.

    Args:
        record: What is shown, in state ``pending``.
        input: JSON text of the validated input: the value that will run.
        correlation_id: The application's own id.
        repeat_of: First execution in the asking workflow that asked for the same.
        task_queue: Where it is executed; the approval's own task queue unless given.
    """

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    record: ApprovalRecord
    input: str = Field(repr=False)
    correlation_id: str | None = None
    repeat_of: str | None = None
    task_queue: str | None = None


@dataclass(frozen=True, slots=True)
class Grant:
    """What an approved attempt carries.

    Args:
        execution_id: The execution that was approved.
        input_hash: The input that was approved.
        expires_at: Until when it may begin.
        approver: Who approved.
        types: The approver types that were demanded.
    """

    execution_id: str
    input_hash: str
    expires_at: datetime
    approver: Actor
    types: tuple[str, ...]


def read_decision(value: JsonValue) -> DecisionInput:
    """A decision, from JSON.

    Raises:
        CapabilityError: INPUT_INVALID, where it is none.
    """
    with suppress(ValidationError):
        return DecisionInput.model_validate(value)
    raise CapabilityError(
        "INPUT_INVALID",
        "The decision is malformed: give approved (true or false), approver, comment and source.",
        stage="approval",
    )


def read_withdrawal(value: JsonValue) -> CancelInput:
    """A request to withdraw an approval, from JSON.

    Raises:
        CapabilityError: INPUT_INVALID, where it is none.
    """
    with suppress(ValidationError):
        return CancelInput.model_validate(value)
    raise CapabilityError(
        "INPUT_INVALID", "The withdrawal is malformed: give by and comment.", stage="approval"
    )


def read_person(value: JsonValue) -> Actor:
    """Who decides, from JSON.

    Raises:
        CapabilityError: INPUT_INVALID, where nobody in particular is named.
    """
    person: Actor | None = None
    with suppress(ValidationError):
        person = Actor.model_validate(value)
    if person is None or person.kind == "anonymous":
        raise CapabilityError(
            "INPUT_INVALID",
            "The approver is missing or malformed: give kind (user, service or automation) and id.",
            stage="approval",
        )
    return person


def read_comment(value: JsonValue) -> str | None:
    """A decider's words.

    Raises:
        CapabilityError: INPUT_INVALID, where they are not text or too long.
    """
    if value is None or (isinstance(value, str) and len(value) <= MAX_COMMENT):
        return value or None
    raise CapabilityError(
        "INPUT_INVALID",
        f"The comment must be text of at most {MAX_COMMENT} characters.",
        stage="approval",
    )


def read_source(value: JsonValue) -> DecisionSource:
    """Through which door a decision came; anything unknown is the programming interface."""
    return "cli" if value == "cli" else "web" if value == "web" else "api"


def same_person(one: Actor, other: Actor) -> bool:
    """Whether two actors are the same: kind and id, compared exactly, character by character."""
    return one.kind == other.kind and one.id == other.id
