"""Who this execution is: its id, from what the activity knows of itself (G5, DESIGN section 6).

The activity reads namespace, workflow id and activity id from its own info. The original run id is
not there: the asking workflow passes it. Where it does not (the activity was scheduled by foreign
code), and in runs that a workflow-level retry started, the history's first event tells.
"""

import logging
from collections import OrderedDict
from typing import NamedTuple

from temporalio import activity
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import ContinueAsNewInitiator
from temporalio.api.history.v1 import WorkflowExecutionStartedEventAttributes
from temporalio.api.workflowservice.v1 import GetWorkflowExecutionHistoryRequest
from temporalio.client import Client

from ..runtime.identity import standalone_execution_id, workflow_execution_id
from ..runtime.messages import Ask

_log = logging.getLogger("temperance.activity")

KEPT = 4096
"""How many runs' origins a worker remembers."""

MOST_LINKS = 1000
"""How many workflow-level retries are walked back before the chain is given up."""


class Identity(NamedTuple):
    """The execution that an activity attempt belongs to.

    Args:
        execution_id: Derived by the documented formula.
        told: Whether the asking run can derive the same by itself; where not, the reply says it.
        origin: The original run id that the formula used; ``None`` for a standalone activity, and
            where the first attempt of a retried workflow cannot be read any more: then the id is
            provisional, made of the nearest run that is known, and no key may be handed out.
        repeat_of: Execution id of the first execution that asked for the same.
        rerun: Whether its run follows one in which the same execution may have been recorded: after
            a reset, or a workflow-level retry.
    """

    execution_id: str
    told: bool
    origin: str | None
    repeat_of: str | None = None
    rerun: bool = False


class Origins:
    """Finds the original run id from which a run's keys are built.

    Args:
        client: The worker's client.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._found: OrderedDict[tuple[str, str], str] = OrderedDict()

    async def of_retried(self, workflow_id: str, run_id: str) -> str:
        """The original run id of the first attempt, walking back over workflow-level retries.

        Args:
            workflow_id: Workflow id.
            run_id: Any run of the chain.

        Returns:
            The run id that keys are built from: in a run that no workflow-level retry started, its
            own original run id.

        Raises:
            temporalio.service.RPCError: A run of the chain cannot be read (retention, permissions).
        """
        known = self._found.get((workflow_id, run_id))
        if known is not None:
            return known
        current = run_id
        for _ in range(MOST_LINKS):
            started = await self._started(workflow_id, current)
            retried = started.initiator == ContinueAsNewInitiator.CONTINUE_AS_NEW_INITIATOR_RETRY
            if started.attempt <= 1 or not retried or not started.continued_execution_run_id:
                origin = started.original_execution_run_id or current
                self._keep((workflow_id, run_id), origin)
                return origin
            current = started.continued_execution_run_id
        raise RuntimeError(f"more than {MOST_LINKS} workflow-level retries")

    async def _started(
        self, workflow_id: str, run_id: str
    ) -> WorkflowExecutionStartedEventAttributes:
        response = await self._client.workflow_service.get_workflow_execution_history(
            GetWorkflowExecutionHistoryRequest(
                namespace=self._client.namespace,
                execution=WorkflowExecution(workflow_id=workflow_id, run_id=run_id),
                maximum_page_size=1,
            ),
            retry=True,
        )
        return response.history.events[0].workflow_execution_started_event_attributes

    def _keep(self, key: tuple[str, str], origin: str) -> None:
        self._found[key] = origin
        if len(self._found) > KEPT:
            self._found.popitem(last=False)


async def identify(
    info: activity.Info,
    ask: Ask | None,
    origins: Origins,
    step: str | None = None,
    *,
    request_run: str | None = None,
) -> Identity:
    """Derives the execution that an attempt belongs to.

    Args:
        info: The activity's own info.
        ask: What the asking workflow or client sent; ``None`` where foreign code scheduled it.
        origins: Reads what is not told.
        step: The step id where it is not the activity's own.
        request_run: With ``step``, where there is no workflow: the run id of that activity.

    Returns:
        The identity, without an origin where a history was needed and cannot be read.
    """
    activity_id = step or info.activity_id
    if info.workflow_id is None or info.workflow_run_id is None:
        run_id = request_run if step else info.activity_run_id
        execution_id = standalone_execution_id(info.namespace, activity_id, run_id or "")
        return Identity(execution_id, False, None)
    nearest = None if ask is None else ask.origin
    told = nearest is not None
    nearest = nearest or info.workflow_run_id
    origin: str | None = nearest
    if ask is None or not told or ask.workflow_attempt > 1:
        origin = await _origin(origins, info.workflow_id, nearest)
        told = told and origin is None
    run_id = origin or nearest
    repeat = None
    if ask is not None and ask.repeat_of is not None:
        repeat = workflow_execution_id(info.namespace, info.workflow_id, run_id, ask.repeat_of)
    return Identity(
        workflow_execution_id(info.namespace, info.workflow_id, run_id, activity_id),
        told,
        origin,
        repeat,
        rerun=origin != info.workflow_run_id,
    )


async def _origin(origins: Origins, workflow_id: str, run_id: str) -> str | None:
    try:
        return await origins.of_retried(workflow_id, run_id)
    except Exception as error:  # noqa: BLE001 - whatever it is, the attempt must answer for it
        reason = type(error).__name__
        _log.warning("the first run of %s could not be read (%s)", workflow_id, reason)
        return None
