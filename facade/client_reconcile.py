"""Settles a request without a workflow: what became of it, and once more where it did not happen.

By the same rules as in a workflow. Question and further series are standalone activities of their
own, whose ids are made of the request's.
"""

import dataclasses
from typing import Any

from temporalio.client import ActivityFailureError, ActivityHandle
from temporalio.common import ActivityIDConflictPolicy, ActivityIDReusePolicy, RawValue
from temporalio.exceptions import TimeoutError as TemporalTimeoutError

from temperance.client_record import record_unseen_question
from temperance.repeated_request import is_taken
from temperance.runtime.envelope import ExecutionResult, Failed
from temperance.runtime.error import CapabilityError
from temperance.runtime.names import RECONCILE_SUFFIX
from temperance.runtime.reconcile import Reconcile, is_open, may_run_again, settle
from temperance.runtime.request import WorkflowRef
from temperance.runtime.series import Series
from temperance.single_request import Outcome, SingleRequest, raw_value
from temperance.workflows.options import derive_reconcile_options, reconcile_summary_of
from temperance.workflows.reading import Asked, read_settled
from temperance.workflows.reading_failure import is_recorded


async def settled_by_client(
    request: SingleRequest, handle: ActivityHandle[RawValue], outcome: Outcome, *, repeated: bool
) -> ExecutionResult[object]:
    """Asks the capability's `reconcile` where the effect is ``possible``.

    Args:
        request: The request.
        handle: Its activity.
        outcome: What that came to.
        repeated: Whether the request was sent before: then whoever sent it may have had it run
            again already, and that is waited for.

    Returns:
        The envelope that the answer comes to. Sent twice, the same request is asked about twice:
        later more may be known.

    Raises:
        temporalio.service.RPCError: The server cannot be reached, or refuses the call.
    """
    reconcile = request.capability.reconcile
    number = 1
    while True:
        envelope = outcome.envelope
        if (
            reconcile is None
            or not isinstance(envelope, Failed)
            # An approval has asked by itself.
            or envelope.reconciled is not None
            or not is_open(request.capability.side_effect, envelope)
        ):
            return envelope
        errors = (*envelope.errors, envelope.error.code)
        ended = Series(request.id, number, envelope.attempts, errors, handle.run_id)
        following = dataclasses.replace(ended, number=number + 1)
        may = (
            reconcile.run_again
            and not outcome.of_approval
            and may_run_again(envelope.error, number)
        )
        begun = may and repeated and await is_taken(request.client, following.again_id)
        if not begun:
            settled = await _asked(request, reconcile, envelope, ended)
            if settled.reconciled != "did_not_happen" or not may:
                return settled
        outcome = await _run_again(request, following)
        number += 1


# Of any input and output.
async def _asked(
    request: SingleRequest, reconcile: Reconcile[Any, Any], envelope: Failed, ended: Series
) -> ExecutionResult[object]:
    ask = dataclasses.replace(request.ask, series=ended)
    capability = request.capability
    handle = await request.client.start_activity(
        capability.id + RECONCILE_SUFFIX,
        args=[raw_value(request.data), raw_value(ask.to_json())],
        id=ended.reconcile_id,
        task_queue=request.task_queue,
        result_type=RawValue,
        id_reuse_policy=ActivityIDReusePolicy.ALLOW_DUPLICATE,
        id_conflict_policy=ActivityIDConflictPolicy.USE_EXISTING,
        summary=reconcile_summary_of(capability, request.ask.actor),
        **derive_reconcile_options(reconcile, request.app),
    )
    try:
        value = await handle.result()
    except ActivityFailureError as failure:
        if not is_recorded(failure.cause):
            late = isinstance(failure.cause, TemporalTimeoutError)
            place = WorkflowRef(handle.id, handle.run_id or "", handle.id)
            error = CapabilityError("TIMEOUT" if late else "INTERNAL_ERROR")
            await record_unseen_question(request.app, envelope, request.ask, place, error)
        return settle(envelope, "unknown")
    asked = Asked(capability, envelope.execution_id, None, request.decode)
    return read_settled(asked, envelope, value)


async def _run_again(request: SingleRequest, series: Series) -> Outcome:
    """Starts the series, or waits for the one that another sender of the request has started."""
    handle = await request.start(given=True, series=series)
    if handle is None:
        handle = request.client.get_activity_handle(series.again_id, result_type=RawValue)
    return await request.outcome(handle, series)
