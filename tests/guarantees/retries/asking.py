"""Asks for executions and reads what the server recorded of them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

from temporalio.api.enums.v1 import EventType, TaskQueueType
from temporalio.api.history.v1 import ActivityTaskScheduledEventAttributes
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Worker

from temperance import ExecutionResult
from tests.guarantees.retries.ledger import Ledger
from tests.guarantees.retries.orders import Act, Order
from tests.guarantees.retries.workflows import Errand, Errands, ForeignCode, Plan
from tests.support.history import history_events
from tests.support.waiting import wait_until

Envelopes = list[ExecutionResult[object]]
Handle = WorkflowHandle[Errands, Envelopes]


def errand(capability: str, case: str, *acts: Act) -> Errand:
    """An execution of `capability`, whose handler plays `acts`, one an attempt."""
    return Errand(capability=capability, order=Order(case=case, acts=acts))


@asynccontextmanager
async def worker(client: Client, queue: str) -> AsyncGenerator[Worker]:
    """A worker in this process, which makes no allowance for what still runs when it stops."""
    async with Worker(
        client,
        task_queue=queue,
        workflows=[Errands, ForeignCode],
        graceful_shutdown_timeout=timedelta(milliseconds=1),
    ) as running:
        yield running


async def start(
    client: Client,
    queue: str,
    *errands: Errand,
    activity_queue: str | None = None,
    hold: bool = False,
) -> Handle:
    """Start a workflow that asks for these executions."""
    plan = Plan(errands=errands, queue=activity_queue, hold=hold)
    return await client.start_workflow(
        Errands.run,
        plan,
        id=f"{queue}-errands",
        task_queue=queue,
        # How long the server waits for a worker that died while it ran workflow code.
        task_timeout=timedelta(seconds=1),
    )


async def until_entered(ledger: Ledger, case: str, times: int = 1) -> None:
    """Wait until the handler of a case was entered so many times."""

    async def entered() -> bool:
        return len(ledger.entries(case)) >= times

    await wait_until(entered)


async def until_done(handle: Handle) -> None:
    """Wait until a workflow that holds has all its envelopes."""

    async def done() -> bool:
        return await handle.query(Errands.done)

    await wait_until(done)


async def until_polled(client: Client, queue: str) -> None:
    """Wait until a worker waits for the activities of a queue."""

    async def polled() -> bool:
        response = await client.workflow_service.describe_task_queue(
            DescribeTaskQueueRequest(
                namespace=client.namespace,
                task_queue=TaskQueue(name=queue),
                task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
            )
        )
        return bool(response.pollers)

    await wait_until(polled)


async def scheduled(
    client: Client, workflow_id: str
) -> dict[str, ActivityTaskScheduledEventAttributes]:
    """What history says of each scheduled activity, by activity type."""
    return {
        event.activity_task_scheduled_event_attributes.activity_type.name: (
            event.activity_task_scheduled_event_attributes
        )
        for event in await history_events(client, workflow_id)
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    }
