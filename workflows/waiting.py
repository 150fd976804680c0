"""Waiting for an approval, however often the calling task is cancelled (G3, DESIGN section 7)."""

import asyncio

from temporalio import workflow
from temporalio.exceptions import CancelledError, FailureError

from ..runtime.envelope import ExecutionResult
from .cancellation import TURNS, Cancellations
from .pending import Pending
from .run import GovernedRun


async def wait_for(pending: Pending, cancellations: Cancellations) -> ExecutionResult[object]:
    """Waits for an approval and for the execution it authorizes.

    When the workflow is cancelled, or the last caller that waits is, the approval is cancelled too,
    and its own answer still waited for.

    Args:
        pending: The approval.
        cancellations: Remember a cancellation that arrives meanwhile.

    Returns:
        The envelope.

    Raises:
        asyncio.CancelledError: Only the calling task was cancelled, and others still wait.
    """
    turns = TURNS
    withdrawn = False
    pending.waiting += 1
    try:
        while not pending.outcome.done():
            if cancellations.arrived and not turns and _others_wait(pending):
                raise asyncio.CancelledError
            try:
                if not cancellations.arrived or withdrawn:
                    await workflow.wait([pending.outcome])
                elif turns:
                    turns -= 1
                    await asyncio.sleep(0)
                elif not pending.begun.done():
                    # The server cannot cancel what it does not have yet.
                    await workflow.wait([pending.begun])
                else:
                    withdrawn = True
                    await _withdraw(pending.record.id)
            except asyncio.CancelledError:
                cancellations.arrived = True
        return pending.outcome.result()
    finally:
        pending.waiting -= 1


async def withdraw_all(run: GovernedRun) -> None:
    """Withdraws what a cancelled workflow leaves open, right before it ends.

    Args:
        run: The run; nothing is withdrawn unless its workflow was cancelled.
    """
    if workflow.cancellation_reason() is None:
        return
    for pending in run.approvals.by_id.values():
        if not pending.begun.done():
            await workflow.wait([pending.begun])
        if not pending.outcome.done():
            await _withdraw(pending.record.id)


def _others_wait(pending: Pending) -> bool:
    return workflow.cancellation_reason() is None and pending.waiting > 1


async def _withdraw(approval: str) -> None:
    try:
        await workflow.get_external_workflow_handle(approval).cancel()
    except (FailureError, CancelledError):
        # It has ended: then its outcome is on its way.
        workflow.logger.debug("approval %s could not be cancelled", approval)
