"""Stage 7: the approval gate (G3, G8).

Without a grant a demand for approval ends the attempt before the handler. With one, everything that
the approver relied on is checked again: the exact input, the expiry, the approver, and that nobody
demands more by now than was approved.
"""

from datetime import UTC, datetime
from typing import Any

from pydantic_core import from_json, to_json

from .app import App
from .approval import Grant, same_person
from .call import Asked
from .canonical import can_travel
from .capability import Capability
from .decision import RequireApproval
from .error import CapabilityError
from .policy import ApprovalDemand, merge
from .redaction import displayed_input
from .reply import Reply
from .request import Request

# Requests of all capabilities pass through here.
AnyRequest = Request[Any, Any]


def demand_of(
    capability: Capability[Any, Any], policies: ApprovalDemand | None
) -> ApprovalDemand | None:
    """What metadata and invocation policies demand together."""
    declared = capability.approval
    if declared is None or not declared.required:
        return policies
    own = merge(
        [
            RequireApproval(
                declared.reason or f"{capability.id} needs an approval each time",
                declared.type,
                declared.expires_in,
            )
        ]
    )
    return join(own, policies)


def ask(demand: ApprovalDemand, request: AnyRequest, limit: int | None) -> Asked:
    """The demand, with the value that would run and what approvers are shown of it.

    Args:
        demand: What is demanded.
        request: What would run.
        limit: Most bytes of JSON that an approval may be started with, or ``None``.

    Raises:
        CapabilityError: APPROVAL_UNSERIALIZABLE_INPUT, PAYLOAD_TOO_LARGE, or a redaction that
            failed.
    """
    capability = request.capability
    try:
        data = capability.input_schema.to_json(request.input)
    except Exception as error:  # noqa: BLE001 - a serializer of the application's own
        raise CapabilityError("APPROVAL_UNSERIALIZABLE_INPUT", cause=error) from None
    shown = displayed_input(capability, request.input)
    if not _is_readable(shown):
        raise CapabilityError("APPROVAL_UNSERIALIZABLE_INPUT")
    asked = Asked(
        reasons=demand.reasons,
        types=demand.types,
        expires_at=datetime.now(UTC) + demand.expires_in,
        input_hash=request.input_hash,
        input=data,
        shown=shown,
    )
    if limit is not None and (size := _size(asked, request)) > limit:
        raise CapabilityError(
            "PAYLOAD_TOO_LARGE",
            f"The approval would carry {size} bytes; at most {limit} can be carried.",
            stage="approval",
            details={"size": size, "limit": limit},
        )
    return asked


def _is_readable(shown: object) -> bool:
    """Whether the workflow that asks a person can read what that person is to be shown."""
    try:
        written = to_json(shown)
        from_json(written)
    except ValueError:
        return False
    return can_travel(written)


def _size(asked: Asked, request: AnyRequest) -> int:
    """Bytes that an approval is started with: the input twice, as it runs and as it is shown."""
    said = request.capability.description.encode()
    return len(Reply(asked=asked).to_json()) + len(said) + len(request.actor.model_dump_json())


def check_grant(app: App, grant: Grant, request: AnyRequest, demand: ApprovalDemand | None) -> None:
    """Checks an approval right before it is used.

    The expiry counts for the first attempt only: the approval covers the execution that it
    authorized, retries included.

    Args:
        app: Says whether a requester may approve its own request.
        grant: The approval.
        request: What is about to run.
        demand: What is demanded now.

    Raises:
        CapabilityError: The approval does not cover this, and why.
    """
    if grant.execution_id != request.execution_id or grant.input_hash != request.input_hash:
        raise CapabilityError("APPROVAL_INPUT_MISMATCH")
    if request.attempt == 1 and datetime.now(UTC) >= grant.expires_at:
        raise CapabilityError("APPROVAL_EXPIRED")
    if app.reject_self_approval and same_person(grant.approver, request.actor):
        raise CapabilityError("APPROVAL_SELF_APPROVAL")
    if demand is not None and not set(demand.types) <= set(grant.types):
        raise CapabilityError(
            "APPROVAL_REQUIRED",
            "The rules demand another approval by now; ask again.",
            audit_reason="tightened",
        )


def join(first: ApprovalDemand | None, second: ApprovalDemand | None) -> ApprovalDemand | None:
    """What two demands come to: all reasons, all types, the least expiry."""
    if first is None or second is None:
        return first or second
    return ApprovalDemand(
        reasons=tuple(dict.fromkeys(first.reasons + second.reasons)),
        types=tuple(dict.fromkeys(first.types + second.types)),
        expires_in=min(first.expires_in, second.expires_in),
    )
