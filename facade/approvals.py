"""Approvals from outside: list, show, decide, withdraw, against any server (G3, DESIGN section 7).

The command line and the web inbox do nothing else. Who the approver is, is the caller's to
establish: this module passes it on, and the approval itself judges whether it may decide.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Final, cast
from uuid import uuid5

from pydantic import JsonValue
from temporalio.client import (
    Client,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowQueryFailedError,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from temperance.activities.outcome import outcome_of
from temperance.approval_listing import (
    ApprovalPage,
    ApprovalSummary,
    Unreadable,
    Which,
    no_such_page,
    query_of,
    some_unreadable,
    summary_of,
    token_bytes,
    token_text,
)
from temperance.runtime.actor import Actor, identifier_problem
from temperance.runtime.approval import (
    ApprovalRecord,
    CancelInput,
    DecisionInput,
    DecisionSource,
)
from temperance.runtime.canonical import canonical_json
from temperance.runtime.envelope import ExecutionResult, Failed, read_envelope
from temperance.runtime.error import CODES, CapabilityError, ErrorCode
from temperance.runtime.identity import BUSINESS_NAMESPACE
from temperance.runtime.names import (
    CANCEL_UPDATE,
    DECIDE_UPDATE,
    RECORD_QUERY,
)

ANSWER_TIMEOUT: Final = timedelta(seconds=20)
"""How long a decision waits for a worker before it says that none answered."""

BUSY_PAUSES: Final = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""Seconds between tries while the server takes no further update: 10 may be in flight."""


class Approvals:
    """The approvals of a namespace.

    Args:
        client: A connected client that knows pydantic: one with the `TemperancePlugin`, or any with
            ``data_converter=temporalio.contrib.pydantic.pydantic_data_converter``.
        timeout: How long a call waits for a worker.
    """

    def __init__(self, client: Client, *, timeout: timedelta = ANSWER_TIMEOUT) -> None:
        self._client = client
        self._timeout = timeout

    async def list(
        self,
        which: Which = "pending",
        *,
        capability: str | None = None,
        actor: str | None = None,
        older_than: timedelta | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[ApprovalSummary]:
        """Lists approvals, newest first, page by page; no worker is needed.

        Args:
            which: Those that are open, those that are closed, or all.
            capability: Only of this capability.
            actor: Only asked for by this ``kind:id``.
            older_than: Only requested at least so long ago.
            limit: At most so many.

        Yields:
            One summary each.

        Raises:
            CapabilityError: INTERNAL_ERROR at the end, where there are more whose payload codec
                this client does not have.
            temporalio.service.RPCError: The server cannot be reached, or refuses.
        """
        before = None if older_than is None else datetime.now(UTC) - older_than
        given = unreadable = 0
        async for execution in self._client.list_workflows(query_of(which, before)):
            if limit is not None and given >= limit:
                return
            try:
                summary = await summary_of(execution)
            except Unreadable:
                unreadable += 1
                continue
            if summary is None or (capability is not None and summary.capability != capability):
                continue
            if actor is not None and summary.actor != actor:
                continue
            given += 1
            yield summary
        if unreadable:
            raise some_unreadable(unreadable)

    async def page(
        self, which: Which = "pending", *, size: int = 50, after: str | None = None
    ) -> ApprovalPage:
        """One page of the list, newest first; no worker is needed.

        Args:
            which: As for `list`.
            size: At most so many.
            after: What the page before gave as ``next``.

        Raises:
            CapabilityError: INPUT_INVALID where there is no such page.
            temporalio.service.RPCError: The server cannot be reached, or refuses.
        """
        executions = self._client.list_workflows(
            query_of(which, None), page_size=size, next_page_token=token_bytes(after)
        )
        try:
            await executions.fetch_next_page()
        except RPCError as error:
            if after is not None and error.status in _NO_PAGE:
                raise no_such_page() from None
            raise
        entries: list[ApprovalSummary] = []
        unreadable = 0
        for execution in executions.current_page or ():
            try:
                summary = await summary_of(execution)
            except Unreadable:
                unreadable += 1
            else:
                entries += [] if summary is None else [summary]
        return ApprovalPage(tuple(entries), token_text(executions.next_page_token), unreadable)

    async def show(self, approval: str) -> ApprovalRecord:
        """The record of one approval; a worker answers.

        Raises:
            CapabilityError: CAPABILITY_NOT_FOUND where there is no such approval, TIMEOUT where no
                worker answered.
            temporalio.service.RPCError: The server cannot be reached, or refuses.
        """
        handle = self._handle(approval)
        try:
            async with asyncio.timeout(self._timeout.total_seconds()):
                record: ApprovalRecord = await handle.query(
                    RECORD_QUERY, result_type=ApprovalRecord
                )
        except TimeoutError:
            raise CapabilityError(
                "TIMEOUT", "No worker answered in time.", stage="approval"
            ) from None
        except WorkflowQueryFailedError:
            raise _unknown() from None
        except RPCError as error:
            raise _of_rpc(error) from None
        return record

    async def approve(
        self,
        approval: str,
        *,
        approver: Actor,
        comment: str | None = None,
        source: DecisionSource = "api",
    ) -> ApprovalRecord:
        """Approves: the execution is run, once.

        A decision has an id of its own, made of approval, approver and verdict: sent again,
        because a call timed out, it is one decision and gets the same answer.

        Args:
            approval: Its id.
            approver: Who decides.
            comment: Kept in the record and the audit.
            source: Through which door.

        Returns:
            The record.

        Raises:
            CapabilityError: The decision does not count, and why: APPROVAL_CONSUMED,
                APPROVAL_REJECTED, APPROVAL_EXPIRED, APPROVAL_CANCELLED, APPROVAL_SELF_APPROVAL,
                FORBIDDEN, INPUT_INVALID, CAPABILITY_NOT_FOUND; TIMEOUT where no worker answered,
                and the decision may still count.
            temporalio.service.RPCError: The server cannot be reached, or refuses.
        """
        return await self._decide(approval, True, approver, comment, source)

    async def reject(
        self,
        approval: str,
        *,
        approver: Actor,
        comment: str | None = None,
        source: DecisionSource = "api",
    ) -> ApprovalRecord:
        """Rejects: nothing is run. See `approve`."""
        return await self._decide(approval, False, approver, comment, source)

    async def cancel(
        self,
        approval: str,
        *,
        by: Actor,
        comment: str | None = None,
        source: DecisionSource = "api",
    ) -> ApprovalRecord:
        """Withdraws the request; the requester may do so too. See `approve`."""
        _refuse_unwritable(approval, comment)
        sent = CancelInput(by=_person(by), comment=comment, source=source)
        return await self._update(
            approval, CANCEL_UPDATE, sent, _update_id(approval, str(by), "cancel")
        )

    async def outcome(self, approval: str) -> ExecutionResult[object]:
        """Waits until the approval is closed and gives the envelope, its output JSON-like.

        Raises:
            CapabilityError: CAPABILITY_NOT_FOUND where there is no such approval;
                APPROVAL_CANCELLED where it was ended from outside.
            temporalio.service.RPCError: The server cannot be reached, or refuses.
        """
        try:
            value = await outcome_of(self._client, self._handle(approval).id)
        except RPCError as error:
            raise _of_rpc(error) from None
        if value is None:
            raise CapabilityError("APPROVAL_CANCELLED")
        envelope = read_envelope(value.payload.data)
        if envelope is None:
            raise CapabilityError("OUTPUT_INVALID")
        return envelope

    async def outcome_so_far(self, approval: str) -> ExecutionResult[object] | None:
        """The envelope where the approval is closed, ``None`` where it is open. See `outcome`."""
        try:
            described = await self._handle(approval).describe()
        except RPCError as error:
            raise _of_rpc(error) from None
        return None if described.close_time is None else await self.outcome(approval)

    async def _decide(
        self,
        approval: str,
        approved: bool,
        approver: Actor,
        comment: str | None,
        source: DecisionSource,
    ) -> ApprovalRecord:
        _refuse_unwritable(approval, comment)
        sent = DecisionInput(
            approved=approved, approver=_person(approver), comment=comment, source=source
        )
        id_ = _update_id(approval, str(approver), "approve" if approved else "reject")
        return await self._update(approval, DECIDE_UPDATE, sent, id_)

    async def _update(
        self, approval: str, update: str, sent: DecisionInput | CancelInput, id_: str
    ) -> ApprovalRecord:
        handle = self._handle(approval)
        for pause in (*BUSY_PAUSES, None):
            try:
                async with asyncio.timeout(self._timeout.total_seconds()):
                    record: ApprovalRecord = await handle.execute_update(
                        update, sent, id=id_, result_type=ApprovalRecord
                    )
            except (TimeoutError, WorkflowUpdateRPCTimeoutOrCancelledError):
                if _cancelled():
                    # The SDK takes the caller's own cancellation for a timeout.
                    raise asyncio.CancelledError from None
                raise _unanswered() from None
            except WorkflowUpdateFailedError as error:
                raise _refusal(error) from None
            except RPCError as error:
                if error.status == RPCStatusCode.RESOURCE_EXHAUSTED and pause is not None:
                    await asyncio.sleep(pause)
                    continue
                raise await self._closed(handle, error) from None
            return record
        raise _unanswered()

    async def _closed(
        self, handle: "WorkflowHandle[object, RawValue]", error: RPCError
    ) -> CapabilityError | RPCError:
        """Why a closed approval takes no decision: the same as its validator would say."""
        if error.status not in _GONE:
            return _of_rpc(error)
        try:
            value = await handle.result()
        except WorkflowFailureError:
            return CapabilityError("APPROVAL_CANCELLED")
        except RPCError as other:
            return _of_rpc(other)
        envelope = read_envelope(value.payload.data)
        if isinstance(envelope, Failed) and envelope.code in _ENDS:
            return CapabilityError(envelope.code)
        return CapabilityError("APPROVAL_CONSUMED")

    def _handle(self, approval: str) -> "WorkflowHandle[object, RawValue]":
        _refuse_unwritable(approval)
        return cast(
            "WorkflowHandle[object, RawValue]",
            self._client.get_workflow_handle(approval, result_type=RawValue),
        )


# What the server makes of a page token that it did not give.
_NO_PAGE: Final = (RPCStatusCode.INVALID_ARGUMENT, RPCStatusCode.UNKNOWN)
_GONE: Final = (
    RPCStatusCode.NOT_FOUND,
    RPCStatusCode.ABORTED,
    RPCStatusCode.FAILED_PRECONDITION,
)
_ENDS: Final = ("APPROVAL_REJECTED", "APPROVAL_EXPIRED", "APPROVAL_CANCELLED")


def _refuse_unwritable(approval: str, comment: str | None = None) -> None:
    """Refuses what could not be sent: an id that no approval has, a comment that is no Unicode."""
    if not approval.startswith("approval-") or identifier_problem(approval) is not None:
        raise _unknown()
    try:
        (comment or "").encode()
    except UnicodeEncodeError:
        raise CapabilityError(
            "INPUT_INVALID", "The comment must be text that is Unicode.", stage="approval"
        ) from None


def _person(actor: Actor) -> dict[str, JsonValue]:
    return {"kind": actor.kind, "id": actor.id, "attributes": actor.attributes}


def _update_id(approval: str, who: str, verdict: str) -> str:
    return str(uuid5(BUSINESS_NAMESPACE, canonical_json([approval, who, verdict]).decode()))


def _refusal(error: WorkflowUpdateFailedError) -> CapabilityError:
    cause = error.cause
    if isinstance(cause, ApplicationError) and cause.type in CODES:
        return CapabilityError(cast(ErrorCode, cause.type), cause.message, stage="approval")
    return CapabilityError("INTERNAL_ERROR", stage="approval", retryable=False)


def _of_rpc(error: RPCError) -> CapabilityError | RPCError:
    """What is not about the approval is left as it is: the server is away, or refuses."""
    return _unknown() if error.status == RPCStatusCode.NOT_FOUND else error


def _unknown() -> CapabilityError:
    return CapabilityError("CAPABILITY_NOT_FOUND", "There is no such approval.", stage="approval")


def _cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _unanswered() -> CapabilityError:
    return CapabilityError(
        "TIMEOUT",
        "No worker answered in time. A decision that was sent may still count; sending it again "
        "does not make it count twice.",
        stage="approval",
    )
