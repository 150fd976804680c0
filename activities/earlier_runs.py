"""What the earlier runs of a workflow recorded of one step (G11, DESIGN section 6).

Earlier runs are those whose keys are built from the same original run: what this one was reset
from, and the attempts that workflow-level retries followed. The histories link them: a reset leaves
a ``WorkflowTaskFailed`` event that names the run it started from, and a retried run's first event
names the run before it. No link leads to a run that was reset away *beside* the chain (a run may be
reset twice, and its first successor may have written): so once a reset is met, the runs of the same
workflow id are listed as well. Retries alone leave none beside the chain, and need no listing.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import (
    ContinueAsNewInitiator,
    EventType,
    WorkflowTaskFailedCause,
)
from temporalio.api.history.v1 import (
    ActivityTaskScheduledEventAttributes,
    HistoryEvent,
    WorkflowExecutionStartedEventAttributes,
)
from temporalio.api.workflowservice.v1 import GetWorkflowExecutionHistoryRequest
from temporalio.client import Client

from .identity import Origins

MOST_RUNS: Final = 1000
"""How many earlier runs are read before a request is refused."""

LISTING_INTERVAL: Final = 0.1
"""Seconds between two looks at a listing that lags behind."""

_RESET: Final = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW

_CLOSING: Final = {
    EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED: "activity_task_completed_event_attributes",
    EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED: "activity_task_failed_event_attributes",
    EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT: "activity_task_timed_out_event_attributes",
    EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED: "activity_task_canceled_event_attributes",
}


class Unreadable(Exception):
    """Raised when the record of the earlier runs is not whole: a link is missing, or too many."""


@dataclass(slots=True)
class Recorded:
    """One scheduling of the step in an earlier run.

    Args:
        run_id: The run.
        scheduled: How it was scheduled.
        closed: The event that closed it; ``None`` where the run ended before it did.
    """

    run_id: str
    scheduled: ActivityTaskScheduledEventAttributes = field(repr=False)
    closed: HistoryEvent | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class _Run:
    started: HistoryEvent = field(repr=False)
    was_reset: bool
    links: frozenset[str]
    records: tuple[Recorded, ...]


class EarlierRuns:
    """Reads the earlier runs of one run.

    Args:
        client: The worker's client.
        origins: The worker's reader of original run ids.
        workflow_id: Workflow id.
        run_id: The run whose earlier runs are asked for.
        origin: The original run id that its keys are built from.
    """

    def __init__(
        self, client: Client, origins: Origins, workflow_id: str, run_id: str, origin: str
    ) -> None:
        self._client = client
        self._origins = origins
        self._workflow_id = workflow_id
        self._run_id = run_id
        self._origin = origin
        self._seen: set[str] = set()
        self._records: list[Recorded] = []

    async def records_of(self, activity_id: str) -> list[Recorded]:
        """Everything that was recorded of a step.

        Args:
            activity_id: The step.

        Returns:
            One entry for each time an earlier run scheduled it.

        Raises:
            Unreadable: The record is not whole.
            temporalio.service.RPCError: A run is gone, or cannot be read.
        """
        runs = await self._follow([self._run_id], activity_id)
        if any(run.was_reset for run in runs):
            first = min(runs, key=lambda run: run.started.event_time.ToNanoseconds())
            since = first.started.event_time.ToJsonString()
            await self._follow(await self._listed(since), activity_id)
        return self._records

    async def _follow(self, todo: list[str], activity_id: str) -> list[_Run]:
        """Reads runs, and the runs that they link to."""
        runs: list[_Run] = []
        while todo:
            run_id = todo.pop()
            if run_id in self._seen:
                continue
            self._seen.add(run_id)
            if len(self._seen) > MOST_RUNS:
                raise Unreadable(f"more than {MOST_RUNS} runs")
            run = await self._read(run_id, activity_id)
            self._records.extend(run.records)
            todo.extend(run.links)
            runs.append(run)
        return runs

    async def _read(self, run_id: str, activity_id: str) -> _Run:
        """Reads one run; of the asking run itself only what leads to earlier ones."""
        own = run_id == self._run_id
        events = self._events(run_id)
        first = await anext(events)
        started = first.workflow_execution_started_event_attributes
        was_reset = started.original_execution_run_id not in ("", run_id)
        links = _retried_from(started)
        records: dict[int, Recorded] = {}
        linked = not was_reset
        async for event in events:
            if own and linked:
                break
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED:
                failed = event.workflow_task_failed_event_attributes
                if failed.cause == _RESET:
                    links.add(failed.base_run_id)
                    linked = linked or failed.new_run_id == run_id
            elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
                scheduled = event.activity_task_scheduled_event_attributes
                if scheduled.activity_id == activity_id and not own:
                    records[event.event_id] = Recorded(run_id, scheduled)
            elif event.event_type in _CLOSING:
                closed = getattr(event, _CLOSING[event.event_type])
                if closed.scheduled_event_id in records:
                    records[closed.scheduled_event_id].closed = event
        if not linked:
            raise Unreadable("a run was reset and does not say from which")
        return _Run(first, was_reset, frozenset(links), tuple(records.values()))

    async def _events(self, run_id: str) -> AsyncIterator[HistoryEvent]:
        request = GetWorkflowExecutionHistoryRequest(
            namespace=self._client.namespace,
            execution=WorkflowExecution(workflow_id=self._workflow_id, run_id=run_id),
        )
        while True:
            page = await self._client.workflow_service.get_workflow_execution_history(
                request, retry=True
            )
            for event in page.history.events:
                yield event
            if not page.next_page_token:
                return
            request.next_page_token = page.next_page_token

    async def _listed(self, since: str) -> list[str]:
        """The runs of this workflow id whose keys are built from the same original run.

        The listing is behind the histories, so it counts only once it has the asking run.
        """
        quoted = self._workflow_id.replace("\\", "\\\\").replace("'", "\\'")
        query = f"WorkflowId = '{quoted}' AND StartTime >= '{since}'"
        while True:
            listed = [
                execution.run_id
                async for execution in self._client.list_workflows(query, limit=MOST_RUNS)
            ]
            if len(listed) == MOST_RUNS:
                raise Unreadable(f"{MOST_RUNS} runs or more")
            if self._run_id in listed:
                break
            await asyncio.sleep(LISTING_INTERVAL)
        unknown = [run_id for run_id in listed if run_id not in self._seen]
        return [
            run_id
            for run_id in unknown
            if await self._origins.of_retried(self._workflow_id, run_id) == self._origin
        ]


def _retried_from(started: WorkflowExecutionStartedEventAttributes) -> set[str]:
    retried = started.initiator == ContinueAsNewInitiator.CONTINUE_AS_NEW_INITIATOR_RETRY
    before = started.continued_execution_run_id
    return {before} if retried and started.attempt > 1 and before else set()
