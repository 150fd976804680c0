"""Audit events: what happened, never with what data (DESIGN section 9)."""

from datetime import datetime
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from .actor import ActorKind
from .names import Effect, EventType, Risk, SideEffect, Surface, Verdict

EVENT_VERSION: Final = 1

TERMINAL: Final[frozenset[EventType]] = frozenset(
    {
        "capability.denied",
        "capability.rejected",
        "capability.approval_expired",
        "capability.approval_cancelled",
        "capability.approval_joined",
        "capability.completed",
        "capability.failed",
        "capability.cancelled",
    }
)
"""One of these closes the trail of an execution; one that waits for a person has none yet."""


class Event(BaseModel):
    """One line of the trail.

    Delivery is at least once: ``event_id`` is derived from execution, attempt and type, so that a
    sink can drop what it has already recorded.

    Args:
        event_id: ``<execution id>:<attempt>:<type>``; in a run that follows another (after a reset
            or a workflow-level retry) ``<execution id>:<run id>:<attempt>:<type>``.
        type: What happened.
        at: When, UTC.
        execution_id: The execution; for ``capabilities.discovered`` the listing's own id.
        attempt: Number of the attempt.
        capability: Capability id as it was asked for.
        actor_id: Who asked.
        actor_kind: What the requester is.
        surface: Through which door.
        side_effect: As declared; ``None`` where the capability is not known.
        risk: As declared.
        input_hash: SHA-256 of the canonical validated input, once it is known.
        workflow_id: Workflow id on Temporal, or the id of a standalone activity.
        run_id: Run id on Temporal.
        activity_id: The step id.
        repeat_of: First execution in this workflow that asked for the same.
        correlation_id: The application's own id.
        effect: On terminal events.
        attempts: On terminal events: how many it took.
        duration_ms: On terminal events: of the last attempt, milliseconds.
        error_code: The true code, also where the caller sees another.
        stage: Where it ended.
        reason: The true reason: a declared one, ``unexposed``, ``hidden:<policy>`` and so on.
        previous_error: On ``capability.retried``: code that ended the attempt before.
        reasons: On ``capability.approval_requested``: why.
        approval_id: On events of an approval: its workflow id.
        approver_id: Who decided, or withdrew.
        approver_kind: What the approver is.
        source: Through which door the decision came: ``cli``, ``web`` or ``api``.
        comment: The decider's words.
        listed: On ``capabilities.discovered``: how many were listed.
        withheld: On ``capabilities.discovered``: how many policies kept back.
        verdict: On ``capability.reconciled``: what was found out.
    """

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    v: Literal[1] = EVENT_VERSION
    event_id: str
    type: EventType
    at: datetime
    execution_id: str
    attempt: int = 1
    capability: str | None = None
    actor_id: str
    actor_kind: ActorKind
    surface: Surface
    side_effect: SideEffect | None = None
    risk: Risk | None = None
    input_hash: str | None = None
    workflow_id: str | None = None
    run_id: str | None = None
    activity_id: str | None = None
    repeat_of: str | None = None
    correlation_id: str | None = None
    effect: Effect | None = None
    attempts: int | None = None
    duration_ms: float | None = None
    error_code: str | None = None
    stage: str | None = None
    reason: str | None = None
    previous_error: str | None = None
    reasons: tuple[str, ...] | None = None
    approval_id: str | None = None
    approver_id: str | None = None
    approver_kind: ActorKind | None = None
    source: str | None = None
    comment: str | None = None
    listed: int | None = None
    withheld: int | None = None
    verdict: Verdict | None = None


BLANK: Final[dict[str, object]] = {
    name: None if field.is_required() else field.default
    for name, field in Event.model_fields.items()
}
"""Every field of an event in its order, with its default or ``None``: what to start from."""

_ALL: Final = set(BLANK)
_set = object.__setattr__


def event_of(fields: dict[str, object]) -> Event:
    """Makes an event without validating it, as `Event.model_construct` does in six times the time.

    Only for fields that the library has set itself, from values which it has validated before.

    Args:
        fields: Every field of `BLANK`, in its order; the event keeps this very mapping.
    """
    event = object.__new__(Event)
    _set(event, "__dict__", fields)
    _set(event, "__pydantic_fields_set__", _ALL)  # shared: an event is frozen, a copy has its own
    _set(event, "__pydantic_extra__", None)
    _set(event, "__pydantic_private__", None)
    return event
