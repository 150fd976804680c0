"""Approvals as they are listed: from the server's visibility alone, no worker is asked.

What is shown is what `temperance.workflows.approval_options` puts into the memo: never the input,
never a reason or a comment.
"""

from base64 import b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, cast

from temporalio.client import WorkflowExecution

from temperance.runtime.approval import ApprovalState
from temperance.runtime.error import CapabilityError
from temperance.runtime.names import APPROVAL_WORKFLOW
from temperance.workflows.approval_options import MEMO, MEMO_OF_END

Which = Literal["pending", "closed", "all"]
"""``pending`` are those that wait for a decision, and those that are being executed."""


@dataclass(frozen=True, slots=True)
class ApprovalSummary:
    """An approval as it is listed, without asking it.

    Args:
        id: Its workflow id.
        execution_id: The execution it authorizes.
        capability: What is to be run.
        actor: Who asked, as ``kind:id``.
        risk: As declared.
        side_effect: As declared.
        types: Who may decide.
        requested_at: UTC.
        expires_at: UTC.
        open: Whether it is still running: waiting for a decision, or executing.
        state: ``pending``, ``approved`` (also when it has been executed), ``rejected``,
            ``expired`` or ``cancelled``.
        workflow_id: The asking workflow, or ``None`` for a single request.
        decided_by: Who decided or withdrew, as ``kind:id``; ``None`` where nobody has.
    """

    id: str
    execution_id: str
    capability: str
    actor: str
    risk: str
    side_effect: str
    types: tuple[str, ...]
    requested_at: datetime
    expires_at: datetime
    open: bool
    state: ApprovalState
    workflow_id: str | None = None
    decided_by: str | None = None


@dataclass(frozen=True, slots=True)
class ApprovalPage:
    """One page of a list.

    Args:
        entries: The approvals, newest first.
        next: What the next page is asked for with; ``None`` on the last one.
        unreadable: How many more there are whose payload codec the client does not have.
    """

    entries: tuple[ApprovalSummary, ...]
    next: str | None
    unreadable: int = 0


class Unreadable(Exception):
    """Raised for an approval whose memo went through a codec that the client does not have."""


def query_of(which: Which, before: datetime | None) -> str:
    """The visibility query of a list.

    Args:
        which: Open ones, closed ones, or all.
        before: Only requested until then.
    """
    parts = [f"WorkflowType = '{APPROVAL_WORKFLOW}'"]
    if which == "pending":
        parts.append("ExecutionStatus = 'Running'")
    elif which == "closed":
        parts.append("ExecutionStatus != 'Running'")
    if before is not None:
        parts.append(f"StartTime <= '{before.strftime('%Y-%m-%dT%H:%M:%S.%fZ')}'")
    return " AND ".join(parts)


async def summary_of(execution: WorkflowExecution) -> ApprovalSummary | None:
    """The summary of a workflow, or ``None`` where it is no approval of this library.

    Raises:
        Unreadable: Its memo went through a codec that the client does not have.
    """
    try:
        memo = cast(Mapping[str, object], await execution.memo())
    except Exception:  # noqa: BLE001 - a codec of the application's own
        raise Unreadable from None
    shown, end = memo.get(MEMO), memo.get(MEMO_OF_END)
    if not isinstance(shown, Mapping):
        return None
    asked = cast(Mapping[str, object], shown)
    ended = cast(Mapping[str, object], end) if isinstance(end, Mapping) else None
    is_open = execution.close_time is None
    by = None if ended is None else ended.get("by")
    return ApprovalSummary(
        id=execution.id,
        execution_id=str(asked.get("execution_id")),
        capability=str(asked.get("capability")),
        actor=str(asked.get("actor")),
        risk=str(asked.get("risk")),
        side_effect=str(asked.get("side_effect")),
        types=tuple(str(entry) for entry in cast(list[object], asked.get("types") or [])),
        requested_at=execution.start_time,
        expires_at=datetime.fromisoformat(str(asked.get("expires_at"))),
        open=is_open,
        state=_state(ended, is_open=is_open),
        workflow_id=execution.parent_id,
        decided_by=None if by is None else str(by),
    )


def _state(ended: Mapping[str, object] | None, *, is_open: bool) -> ApprovalState:
    if ended is None:
        # Closed and yet without an end of its own: an operator terminated it.
        return "pending" if is_open else "cancelled"
    return cast(ApprovalState, str(ended.get("state")))


def some_unreadable(count: int) -> CapabilityError:
    """The error for approvals that are there and cannot be listed."""
    return CapabilityError(
        "INTERNAL_ERROR",
        f"{count} more cannot be read: this client does not have their payload codec.",
        stage="approval",
        retryable=False,
    )


def token_text(token: bytes | None) -> str | None:
    """The server's page token as text that may stand in an address."""
    return None if token is None else urlsafe_b64encode(token).decode()


def token_bytes(text: str | None) -> bytes | None:
    """The server's page token.

    Raises:
        CapabilityError: INPUT_INVALID, where the text is none.
    """
    if text is None:
        return None
    try:
        return b64decode(text.encode(), altchars=b"-_", validate=True)
    except ValueError:
        raise no_such_page() from None


def no_such_page() -> CapabilityError:
    """The error for a page token that the server did not give, or not for this list."""
    return CapabilityError("INPUT_INVALID", "There is no such page of the list.", stage="approval")
