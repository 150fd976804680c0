"""What earlier attempts of an execution came to (DESIGN section 9).

Usually the attempt before tells in its heartbeat details. An attempt that the server timed out, or
whose worker died, could not: then the pending activity's last failure does.
"""

import logging

from temporalio import activity
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.failure.v1 import Failure
from temporalio.api.workflowservice.v1 import DescribeWorkflowExecutionRequest
from temporalio.client import Client

from ..runtime.messages import Carry
from ..runtime.names import UNKNOWN_ERROR

_log = logging.getLogger("temperance.activity")


async def earlier_attempts(info: activity.Info, client: Client) -> Carry:
    """What is known of the attempts before this one.

    Args:
        info: The activity's own info.
        client: The worker's client; asked only where an attempt left no word.

    Returns:
        One code for each earlier attempt, and ``possible`` unless all of them told that the handler
        was not entered.
    """
    told = Carry.from_details(info.heartbeat_details[0] if info.heartbeat_details else None)
    missing = info.attempt - 1 - len(told.errors)
    if missing <= 0:
        return Carry(told.errors[: info.attempt - 1], told.effect, told.entered)
    last = await _last_failure(info, client)
    errors = told.errors + (UNKNOWN_ERROR,) * (missing - 1) + (last,)
    known = Carry(errors, "possible", told.entered)
    # Told on at once: the server keeps no failure but the last, and this attempt may be lost too.
    activity.heartbeat(known.details())
    return known


async def _last_failure(info: activity.Info, client: Client) -> str:
    if info.workflow_id is None:
        return UNKNOWN_ERROR
    try:
        described = await client.workflow_service.describe_workflow_execution(
            DescribeWorkflowExecutionRequest(
                namespace=client.namespace,
                execution=WorkflowExecution(
                    workflow_id=info.workflow_id, run_id=info.workflow_run_id or ""
                ),
            )
        )
    except Exception as error:  # noqa: BLE001 - a gap in the record must not fail the attempt
        _log.warning("the attempt before could not be asked about (%s)", type(error).__name__)
        return UNKNOWN_ERROR
    for pending in described.pending_activities:
        if pending.activity_id == info.activity_id and pending.HasField("last_failure"):
            return _code(pending.last_failure)
    return UNKNOWN_ERROR


def _code(failure: Failure) -> str:
    if failure.HasField("timeout_failure_info"):
        return "TIMEOUT"
    if failure.HasField("application_failure_info"):
        return failure.application_failure_info.type or UNKNOWN_ERROR
    return UNKNOWN_ERROR
