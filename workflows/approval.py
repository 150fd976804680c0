"""The approval workflow: one request for a decision, from the asking to the one execution (G3).

It holds the record. `decide` and `cancel` are updates whose validators refuse whatever must not
count: nothing of a refused update is written to history. Expiry is a durable timer. When a decision
and the expiry meet in one workflow task, the decision wins (DESIGN section 7).
"""

import asyncio
from collections.abc import Callable
from datetime import timedelta

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
    CancelInput,
    DecisionInput,
    Grant,
    read_comment,
    read_person,
    read_source,
    same_person,
)
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
    EventType,
)
from .approval_options import memo_of_end
from .cancellation import Cancellations
from .execution import execute
from .reading import Asked
from .run import current_run
from .unseen import ATTEMPTS, TIMEOUT, record_unseen

_ENDS: dict[ApprovalState, ErrorCode] = {
    "rejected": "APPROVAL_REJECTED",
    "expired": "APPROVAL_EXPIRED",
    "cancelled": "APPROVAL_CANCELLED",
}

_EVENTS: dict[ApprovalState, EventType] = {
    "approved": "capability.approved",
    "rejected": "capability.rejected",
    "expired": "capability.approval_expired",
    "cancelled": "capability.approval_cancelled",
    "consumed": "capability.approval_consumed",
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
        self._recorded: list[ApprovalState] = []

    @workflow.run
    async def run(self, request: ApprovalRequest) -> ExecutionResult[object]:
        """Gives the envelope of the execution that was asked for."""
        del request
        await self._await_decision()
        # For the listing, which asks no worker.
        workflow.upsert_memo(memo_of_end(self._record))
        await self._tell()
        if self._record.state != "approved":
            return self._ended(_ENDS[self._record.state])
        return await self._execute()

    @workflow.query(name=RECORD_QUERY)
    def record(self) -> ApprovalRecord:
        """Where it stands."""
        return self._record

    @workflow.update(name=DECIDE_UPDATE)
    def decide(self, decision: DecisionInput) -> ApprovalRecord:
        """Approves or rejects."""
        self._close("approved" if decision.approved else "rejected", self._judge(decision))
        return self._record

    @decide.validator
    def validate_decide(self, decision: DecisionInput) -> None:
        """Refuses a decision that must not count; nothing of it is recorded."""
        _refuse(lambda: self._check(decision))

    @workflow.update(name=CANCEL_UPDATE)
    def cancel(self, withdrawal: CancelInput) -> ApprovalRecord:
        """Withdraws the request."""
        by = read_person(withdrawal.by)
        self._close("cancelled", self._decision(by, withdrawal.comment, withdrawal.source))
        return self._record

    @cancel.validator
    def validate_cancel(self, withdrawal: CancelInput) -> None:
        """Refuses a withdrawal that must not count."""

        def check() -> None:
            read_person(withdrawal.by)
            read_comment(withdrawal.comment)
            self._check_open()

        _refuse(check)

    def _check(self, decision: DecisionInput) -> None:
        approver = read_person(decision.approver)
        read_comment(decision.comment)
        app = current_run().app
        if app.reject_self_approval and same_person(approver, self._record.actor):
            raise CapabilityError("APPROVAL_SELF_APPROVAL")
        self._check_open()
        if app.may_approve is None:
            return
        try:
            allowed = app.may_approve(approver, self._record) is True
        except Exception as error:  # noqa: BLE001 - the rule is the application's: a fault closes
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

    def _judge(self, decision: DecisionInput) -> ApprovalDecision:
        approver = read_person(decision.approver)
        return self._decision(approver, decision.comment, decision.source)

    def _decision(self, by: Actor, comment: object, source: object) -> ApprovalDecision:
        return ApprovalDecision(
            by=by,
            at=workflow.now(),
            comment=comment if isinstance(comment, str) and comment else None,
            source=read_source(source if isinstance(source, str) else None),
        )

    def _close(self, state: ApprovalState, decision: ApprovalDecision | None = None) -> None:
        # An update's handler may run after another closed it, where both were accepted in one task.
        self._check_open()
        self._record = self._record.model_copy(update={"state": state, "decision": decision})

    async def _await_decision(self) -> None:
        left = max(self._record.expires_at - workflow.now(), timedelta(0))
        try:
            await workflow.wait_condition(
                lambda: self._record.state != "pending", timeout=left, timeout_summary="expiry"
            )
        except TimeoutError:
            if self._record.state == "pending":
                self._set("expired")
        except asyncio.CancelledError:
            if self._record.state == "pending":
                self._set("cancelled")

    async def _execute(self) -> ExecutionResult[object]:
        """The approval's own single step: consumption and execution are one (DESIGN section 7)."""
        record = self._record
        capability = current_run().app.governance.registry.get(record.capability)
        if capability is None or record.decision is None:
            return self._ended("CAPABILITY_NOT_FOUND")
        self._set("consumed")
        await self._tell()
        info = workflow.info()
        ask = Ask(
            actor=record.actor,
            surface=record.surface,
            origin=info.original_execution_run_id,
            workflow_attempt=info.attempt,
            correlation_id=self._request.correlation_id,
            grant=Grant(
                execution_id=record.execution_id,
                input_hash=record.input_hash,
                expires_at=record.expires_at,
                approver=record.decision.by,
                types=record.types,
            ),
        )
        asked = Asked(capability, record.execution_id, self._request.repeat_of, decode=False)
        # A cancellation cancels the attempt, whose envelope is the approval's own.
        cancellations = Cancellations(current_run())
        data = self._request.input.encode()
        execution = await execute(asked, data, ask, APPROVAL_STEP, cancellations)
        if not execution.answer.seen:
            return await record_unseen(ask, APPROVAL_STEP, execution.answer, cancellations)
        return execution.answer.envelope

    def _set(self, state: ApprovalState) -> None:
        self._record = self._record.model_copy(update={"state": state})

    def _ended(self, code: ErrorCode) -> Failed:
        record = self._record
        error = CapabilityError(code, stage="approval")
        return Failed(
            execution_id=record.execution_id,
            capability=record.capability,
            attempts=1,
            repeat_of=self._request.repeat_of,
            error=error.public(),
        )

    async def _tell(self) -> None:
        """Has the audit told of the state that was reached."""
        state = self._record.state
        try:
            await workflow.execute_local_activity(
                RECORD_APPROVAL_ACTIVITY,
                args=[self._record, _EVENTS[state], self._request.correlation_id],
                start_to_close_timeout=TIMEOUT,
                retry_policy=RetryPolicy(maximum_attempts=ATTEMPTS),
            )
        except ActivityError as error:
            workflow.logger.warning("an approval was not recorded: %s", type(error.cause).__name__)


def _refuse(check: Callable[[], None]) -> None:
    """Runs a validator's check; its refusal reaches the decider with its code and public text."""
    try:
        check()
    except CapabilityError as error:
        raise ApplicationError(error.public_message, type=error.code, non_retryable=True) from None
