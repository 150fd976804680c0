"""What approvals need done outside of workflow code: the audit, and waiting for an outcome."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Final, cast

from temporalio import activity
from temporalio.client import Client
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory
from temporalio.service import RPCError, RPCStatusCode

from ..runtime.app import App
from ..runtime.approval import ApprovalRecord
from ..runtime.approval_note import ApprovalNote
from ..runtime.call import Call
from ..runtime.error import ErrorCode
from ..runtime.event import TERMINAL
from ..runtime.names import (
    APPROVAL_MEMO,
    APPROVAL_WORKFLOW,
    ATTACH_ACTIVITY,
    RECORD_APPROVAL_ACTIVITY,
    EventType,
)
from ..runtime.request import WorkflowRef
from ..runtime.trail import Facts, Trail
from .outcome import outcome_of

LOOK: Final = timedelta(seconds=2)
"""How long an attempt to attach waits for the outcome."""

LONGEST_PAUSE: Final = timedelta(seconds=5)
"""How long the server waits at most before the next attempt to attach."""

RecordApproval = Callable[[ApprovalNote], Awaitable[None]]

_CODES: Final[Mapping[EventType, ErrorCode]] = {
    "capability.rejected": "APPROVAL_REJECTED",
    "capability.approval_expired": "APPROVAL_EXPIRED",
    "capability.approval_cancelled": "APPROVAL_CANCELLED",
}


def record_approval_activity(app: App) -> RecordApproval:
    """Makes the activity that records what became of an approval.

    Args:
        app: Whose sinks.
    """

    @activity.defn(name=RECORD_APPROVAL_ACTIVITY)
    async def record_approval(note: ApprovalNote) -> None:
        record = note.record
        info = activity.info()
        call = Call(
            capability_id=record.capability,
            raw=None,
            actor=record.actor,
            surface=record.surface,
            execution_id=note.execution_id or record.execution_id,
            repeat_of=note.repeat_of,
            correlation_id=note.correlation_id,
            rerun=note.rerun,
            workflow=WorkflowRef(
                info.workflow_id or "", info.workflow_run_id or "", info.activity_id
            ),
        )
        trail = Trail(app, call)
        trail.capability = app.governance.registry.get(record.capability)
        trail.input_hash = record.input_hash
        for type_ in note.types:
            await trail.emit(type_, **_facts(note, type_))

    return record_approval


def _facts(note: ApprovalNote, type_: EventType) -> Facts:
    decision = note.record.decision
    facts: Facts = {"approval_id": note.record.id}
    if type_ in TERMINAL and note.effect is not None:
        facts["effect"] = note.effect
    if type_ in _CODES:
        facts["error_code"] = _CODES[type_]
        facts["stage"] = "approval"
    if decision is not None and type_ != "capability.approval_joined":
        facts["approver_id"] = decision.by.id
        facts["approver_kind"] = decision.by.kind
        facts["source"] = decision.source
        facts["comment"] = decision.comment
    return facts


@activity.defn(name=ATTACH_ACTIVITY)
async def attach(record: ApprovalRecord) -> RawValue:
    """Waits for the outcome of an approval that was started before; only reads.

    A decision may take days, and a worker has few slots, in which what was approved must run as
    well. So an attempt looks for a moment, and has the server try again: that takes no slot
    meanwhile, and no event of history.

    Args:
        record: What the asking workflow wants approved now.

    Returns:
        The envelope, as the approval gave it.

    Raises:
        ApplicationError: APPROVAL_PENDING, to be tried again; STEP_INPUT_MISMATCH, where it was
            started for something else; APPROVAL_CANCELLED, where it ended without an envelope.
    """
    client = activity.client()
    await _check_same(client, record)
    try:
        async with asyncio.timeout(LOOK.total_seconds()):
            value = await outcome_of(client, record.id)
    except TimeoutError:
        raise ApplicationError(
            "The approval is not decided yet.",
            type="APPROVAL_PENDING",
            next_retry_delay=min(timedelta(seconds=activity.info().attempt), LONGEST_PAUSE),
            category=ApplicationErrorCategory.BENIGN,
        ) from None
    if value is None:
        raise ApplicationError(
            "The approval ended without an outcome.", type="APPROVAL_CANCELLED", non_retryable=True
        )
    return value


async def _check_same(client: Client, record: ApprovalRecord) -> None:
    """An approval binds its request: another one must not get its outcome."""
    try:
        described = await client.get_workflow_handle(record.id).describe()
    except RPCError as error:
        if error.status != RPCStatusCode.NOT_FOUND:
            raise
        raise ApplicationError(
            "The approval is gone.", type="APPROVAL_CANCELLED", non_retryable=True
        ) from None
    memo: object = (await described.memo()).get(APPROVAL_MEMO)
    asked = {
        "capability": record.capability,
        "actor": str(record.actor),
        "input_hash": record.input_hash,
    }
    same = isinstance(memo, Mapping) and asked.items() <= cast(Mapping[str, object], memo).items()
    if described.workflow_type != APPROVAL_WORKFLOW or not same:
        raise ApplicationError(
            "The approval was asked for another request.",
            type="STEP_INPUT_MISMATCH",
            non_retryable=True,
        )
