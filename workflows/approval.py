"""The approval workflow: one request for a decision, from the asking to the one execution (G3).

It holds the record. `decide` and `cancel` are updates whose validators refuse whatever must not
count: nothing of a refused update is written to history. Expiry is a durable timer. A decision
counts where the workflow task that takes it begins before the expiry, by the server's clock. So
where the two meet in one task, the expiry wins: a decision that was given long after it, while no
worker was there, must not count. One that was given in time has `BEGIN_WITHIN` to begin, so that
who decided and who asked are told the same.
"""

import asyncio
import dataclasses
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

from pydantic import JsonValue
from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

from ..runtime.actor import Actor
from ..runtime.approval import (
    REFUSAL,
    ApprovalDecision,
    ApprovalRecord,
    ApprovalRequest,
    ApprovalState,
    Grant,
    read_comment,
    read_decision,
    read_person,
    read_source,
    read_withdrawal,
    same_person,
)
from ..runtime.approval_note import ApprovalNote
from ..runtime.envelope import ExecutionResult, Failed
from ..runtime.error import CapabilityError, ErrorCode
from ..runtime.messages import Ask
from ..runtime.names import (
    APPROVAL_STEP,
    APPROVAL_WORKFLOW,
    CANCEL_UPDATE,
    DECIDE_UPDATE,
    RECORD_APPROVAL_ACTIVITY,
    RECORD_QUERY,
    Effect,
    EventType,
)
from .absent import Sent
from .approval_options import memo_of_end
from .cancellation import Cancellations
from .reading import Answer, Asked
from .run import current_run
from .settling import execute_and_settle
from .unseen import ATTEMPTS, TIMEOUT, record_unseen

BEGIN_WITHIN: Final = timedelta(minutes=1)
"""How long after a decision its execution may begin although the approval expires meanwhile."""

_ENDS: Final[Mapping[ApprovalState, tuple[EventType, ErrorCode]]] = {
    "rejected": ("capability.rejected", "APPROVAL_REJECTED"),
    "expired": ("capability.approval_expired", "APPROVAL_EXPIRED"),
    "cancelled": ("capability.approval_cancelled", "APPROVAL_CANCELLED"),
}


@workflow.defn(name=APPROVAL_WORKFLOW)
class ApprovalWorkflow:
    """Waits for a person, and runs what was approved, once.

    Args:
        request: What is to be decided.
    """

    @workflow.init
    def __init__(self, request: ApprovalRequest) -> None:
        self._request = request
        self._record = request.record

    @workflow.run
    async def run(self, request: ApprovalRequest) -> ExecutionResult[object]:
        """Gives the envelope of the execution that was asked for."""
        del request
        cancellations = Cancellations(current_run())
        await self._await_decision(cancellations)
        # For the listing, which asks no worker.
        workflow.upsert_memo(memo_of_end(self._record))
        state, decision = self._record.state, self._record.decision
        if state == "approved" and decision is not None:
            return await self._execute(decision, cancellations)
        event, code = _ENDS.get(state, _ENDS["cancelled"])
        await self._tell(event, cancellations=cancellations)
        return self._ended(code)

    @workflow.query(name=RECORD_QUERY)
    def record(self) -> ApprovalRecord:
        """Where it stands."""
        return self._record

    # Any JSON is taken as an argument and judged here: what the SDK cannot decode it refuses in
    # words of its own.
    @workflow.update(name=DECIDE_UPDATE)
    def decide(self, decision: JsonValue = None) -> ApprovalRecord:
        """Approves or rejects."""
        sent = read_decision(decision)
        by = read_person(sent.approver)
        self._close(
            "approved" if sent.approved else "rejected",
            self._decision(by, sent.comment, sent.source),
        )
        return self._record

    @decide.validator
    def validate_decide(self, decision: JsonValue = None) -> None:
        """Refuses a decision that must not count; nothing of it is recorded."""

        def check() -> None:
            sent = read_decision(decision)
            approver = read_person(sent.approver)
            read_comment(sent.comment)
            if current_run().app.reject_self_approval and self._asked(approver):
                raise CapabilityError("APPROVAL_SELF_APPROVAL")
            self._check_open()
            self._check_allowed(approver)

        _refuse(check)

    @workflow.update(name=CANCEL_UPDATE)
    def cancel(self, withdrawal: JsonValue = None) -> ApprovalRecord:
        """Withdraws the request."""
        sent = read_withdrawal(withdrawal)
        by = read_person(sent.by)
        self._close("cancelled", self._decision(by, sent.comment, sent.source))
        return self._record

    @cancel.validator
    def validate_cancel(self, withdrawal: JsonValue = None) -> None:
        """Refuses a withdrawal that must not count; the requester, or who may decide, withdraws."""

        def check() -> None:
            sent = read_withdrawal(withdrawal)
            by = read_person(sent.by)
            read_comment(sent.comment)
            self._check_open()
            if not self._asked(by):
                self._check_allowed(by)

        _refuse(check)

    def _asked(self, person: Actor) -> bool:
        return same_person(person, self._record.actor)

    def _check_allowed(self, approver: Actor) -> None:
        app = current_run().app
        if app.may_approve is None:
            return
        try:
            allowed = app.may_approve(approver, self._record) is True
        except BaseException as error:  # noqa: BLE001 - see below
            # The rule is the application's: any fault closes. What leaves a validator in another
            # way fails the workflow task, its text in history, and nobody could decide any more.
            raise CapabilityError("POLICY_FAILED", stage="approval", cause=error) from None
        if not allowed:
            raise CapabilityError(
                "FORBIDDEN", "This approver may not decide this request.", stage="approval"
            )

    def _check_open(self) -> None:
        state = self._record.state
        if state == "pending":
            if workflow.now() >= self._record.expires_at:
                raise CapabilityError("APPROVAL_EXPIRED")
            return
        raise CapabilityError(REFUSAL[state])

    def _decision(self, by: Actor, comment: JsonValue, source: JsonValue) -> ApprovalDecision:
        return ApprovalDecision(
            by=by, at=workflow.now(), comment=read_comment(comment), source=read_source(source)
        )

    def _close(self, state: ApprovalState, decision: ApprovalDecision | None = None) -> None:
        # An update's handler may run after another closed it, where both were accepted in one task.
        self._check_open()
        self._set(state, decision)

    async def _await_decision(self, cancellations: Cancellations) -> None:
        left = max(self._record.expires_at - workflow.now(), timedelta(0))
        try:
            await workflow.wait_condition(
                lambda: self._record.state != "pending", timeout=left, timeout_summary="expiry"
            )
        except TimeoutError:
            if self._record.state == "pending":
                self._set("expired", None)
        except asyncio.CancelledError:
            cancellations.arrived = True
            if self._record.state == "pending":
                self._set("cancelled", None)

    async def _execute(
        self, decision: ApprovalDecision, cancellations: Cancellations
    ) -> ExecutionResult[object]:
        """The approval's own single step: consumption and execution are one (DESIGN section 7)."""
        record, request = self._record, self._request
        capability = current_run().app.governance.registry.get(record.capability)
        info = workflow.info()
        ask = Ask(
            actor=record.actor,
            surface=record.surface,
            origin=info.original_execution_run_id,
            workflow_attempt=info.attempt,
            repeat_of=request.repeat_of,
            correlation_id=request.correlation_id,
            grant=Grant(
                execution_id=record.execution_id,
                input_hash=record.input_hash,
                expires_at=max(record.expires_at, decision.at + BEGIN_WITHIN),
                approver=decision.by,
                types=record.types,
            ),
        )
        if capability is None:
            # This worker's application does not have it any more.
            await self._tell("capability.approved", cancellations=cancellations)
            unknown = Answer(self._ended("CAPABILITY_NOT_FOUND"), seen=False)
            return await record_unseen(ask, APPROVAL_STEP, unknown, cancellations, reason="unknown")
        await self._tell(
            "capability.approved", "capability.approval_consumed", cancellations=cancellations
        )
        self._set("consumed", decision)
        execution = await execute_and_settle(
            Asked(capability, record.execution_id, request.repeat_of, decode=False),
            Sent(request.input.encode(), ask, APPROVAL_STEP, task_queue=request.task_queue),
            # A cancellation cancels the attempt, whose envelope is the approval's own.
            cancellations,
        )
        answer = dataclasses.replace(execution.answer, requested=True)
        if not answer.seen:
            return await record_unseen(ask, APPROVAL_STEP, answer, cancellations)
        return answer.envelope

    def _set(self, state: ApprovalState, decision: ApprovalDecision | None) -> None:
        self._record = self._record.model_copy(update={"state": state, "decision": decision})

    def _ended(self, code: ErrorCode) -> Failed:
        record = self._record
        error = CapabilityError(code, stage="approval")
        return Failed(
            execution_id=record.execution_id,
            capability=record.capability,
            attempts=1,
            effect=self._effect(),
            repeat_of=self._request.repeat_of,
            error=error.public(),
        )

    def _effect(self) -> Effect:
        """Of an end without an execution: only a run that was reset away can have had one."""
        return "possible" if _was_reset() else "none"

    async def _tell(self, *types: EventType, cancellations: Cancellations) -> None:
        """Has the audit told of what was reached, whatever is cancelled meanwhile.

        By an activity of the server's, not by a local one: that would run before the server has
        the decision. Seen: of many decisions at once, one whose workflow task was lost, so that
        another won, had been recorded.
        """
        record, request = self._record, self._request
        handle = workflow.start_activity(
            RECORD_APPROVAL_ACTIVITY,
            ApprovalNote(
                # What is shown may be large, and no event has it.
                record=record.model_copy(update={"shown": None}),
                types=types,
                effect=self._effect(),
                correlation_id=request.correlation_id,
                repeat_of=request.repeat_of,
                rerun=_was_reset(),
            ),
            activity_id=f"record-{record.state}",
            start_to_close_timeout=TIMEOUT,
            retry_policy=RetryPolicy(maximum_attempts=ATTEMPTS),
        )
        await cancellations.until_done(handle, stop=False)
        failure = handle.exception()
        if isinstance(failure, ActivityError):
            reason = type(failure.cause).__name__
            workflow.logger.warning("an approval was not recorded: %s", reason)


def _was_reset() -> bool:
    info = workflow.info()
    return info.run_id != info.original_execution_run_id


def _refuse(check: Callable[[], None]) -> None:
    """Runs a validator's check; its refusal reaches the decider with its code and public text."""
    try:
        check()
    except CapabilityError as error:
        raise ApplicationError(error.public_message, type=error.code, non_retryable=True) from None
