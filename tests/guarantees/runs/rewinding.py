"""Starts workflows, rewinds them as an operator does, and reads what the server recorded."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import uuid4

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType, ResetReapplyExcludeType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Worker

from tests.guarantees.runs.jobs import Act, Ask, Job, Plan
from tests.guarantees.runs.workflows import Answer, Answers, Foreign, Script, Stubborn
from tests.support.history import history_events
from tests.support.waiting import wait_until

Handle = WorkflowHandle[Script, Answers]


def ask(
    capability: str,
    label: str,
    act: Act = "return",
    *,
    step: str | None = None,
    note: str = "",
    actor: str = "ada",
    queue: str | None = None,
) -> Ask:
    """A request of `runs.<capability>`."""
    job = Job(label=label, act=act, note=note)
    return Ask(capability=f"runs.{capability}", job=job, step=step, actor=actor, queue=queue)


@asynccontextmanager
async def worker(
    client: Client,
    queue: str,
    *workflows: type,
    cached: int = 1000,
) -> AsyncGenerator[Worker]:
    """A worker in this process, which makes no allowance for what still runs when it stops.

    With `cached=0` it forgets a workflow after each of its tasks, and replays it for the next.
    """
    async with Worker(
        client,
        task_queue=queue,
        workflows=list(workflows) or [Script, Stubborn, Foreign],
        max_cached_workflows=cached,
        graceful_shutdown_timeout=timedelta(milliseconds=1),
    ) as running:
        yield running


async def start(client: Client, queue: str, plan: Plan, id_: str | None = None) -> Handle:
    """Starts a script; its id is the queue's unless given."""
    return await client.start_workflow(Script.run, plan, id=id_ or queue, task_queue=queue)


def script(client: Client, workflow_id: str, run_id: str | None = None) -> Handle:
    """A script that is there already; its latest run unless one is named."""
    return client.get_workflow_handle_for(Script.run, workflow_id, run_id=run_id)


async def reset(
    client: Client, workflow_id: str, run_id: str, event_id: int, *, reapply: bool = True
) -> str:
    """Rewinds a run to before a workflow task ended, as an operator does.

    Args:
        client: Any client.
        workflow_id: Workflow id.
        run_id: The run.
        event_id: Of the event that ended this task; everything from it on is forgotten.
        reapply: Whether signals and updates from then on are applied again.

    Returns:
        The id of the new run.
    """
    response = await client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=workflow_id, run_id=run_id),
            workflow_task_finish_event_id=event_id,
            request_id=str(uuid4()),
            reason="a test",
            reset_reapply_exclude_types=(
                []
                if reapply
                else [
                    ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL,
                    ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_UPDATE,
                ]
            ),
        )
    )
    return response.run_id


async def reset_before(client: Client, workflow_id: str, run_id: str, activity_id: str) -> str:
    """Rewinds a run to before the workflow task that scheduled a step."""
    event = await scheduled(client, workflow_id, run_id, activity_id)
    attributes = event.activity_task_scheduled_event_attributes
    return await reset(client, workflow_id, run_id, attributes.workflow_task_completed_event_id)


async def reset_to_start(
    client: Client, workflow_id: str, run_id: str, *, reapply: bool = True
) -> str:
    """Rewinds a run to its beginning."""
    end = await task_end_after(client, workflow_id, run_id, 0)
    return await reset(client, workflow_id, run_id, end, reapply=reapply)


async def task_end_after(client: Client, workflow_id: str, run_id: str, event_id: int) -> int:
    """The event that ended the first workflow task after another event, once it is there."""

    async def find() -> int:
        for event in await history_events(client, workflow_id, run_id):
            ended = event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
            if ended and event.event_id > event_id:
                return event.event_id
        return 0

    return await wait_until(find)


async def scheduled(
    client: Client, workflow_id: str, run_id: str, activity_id: str
) -> HistoryEvent:
    """The event that scheduled a step, once it is there."""

    async def find() -> HistoryEvent | None:
        for event in await history_events(client, workflow_id, run_id):
            if event.activity_task_scheduled_event_attributes.activity_id == activity_id:
                return event
        return None

    found = await wait_until(find)
    if found is None:
        raise AssertionError(activity_id)
    return found


async def steps(client: Client, workflow_id: str, run_id: str | None = None) -> list[str]:
    """The step ids of a run, in the order in which they were scheduled."""
    return [
        event.activity_task_scheduled_event_attributes.activity_id
        for event in await history_events(client, workflow_id, run_id)
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    ]


async def answers(client: Client, workflow_id: str, run_id: str | None, count: int) -> Answers:
    """The envelopes of a script that holds, once there are so many."""
    handle = script(client, workflow_id, run_id)

    async def enough() -> Sequence[Answer]:
        found: Answers = await handle.query(Script.answers)
        return found if len(found) >= count else ()

    return list(await wait_until(enough))


async def next_attempt(client: Client, workflow_id: str, run_id: str) -> str:
    """The run that a retry of the workflow started after this one."""

    async def find() -> str:
        current = (await client.get_workflow_handle(workflow_id).describe()).run_id
        return "" if current == run_id else current

    return await wait_until(find)


async def finish(client: Client, workflow_id: str, run_id: str | None = None) -> Answers:
    """Lets a script end, and gives its envelopes."""
    handle = script(client, workflow_id, run_id)
    await handle.signal(Script.finish)
    return await handle.result()
