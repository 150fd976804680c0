"""Where an earlier run is gone, a write is refused and never guessed at (G11)."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from temperance import Failed, MemorySink, TemperancePlugin
from temperance.embedded import EmbeddedServer
from tests.guarantees.runs.books import Books
from tests.guarantees.runs.capabilities import app_of
from tests.guarantees.runs.jobs import Plan
from tests.guarantees.runs.rewinding import (
    answers,
    ask,
    next_attempt,
    reset_to_start,
    script,
    start,
    task_end_after,
    worker,
)
from tests.guarantees.runs.test_g5_keys import TWICE
from tests.guarantees.runs.workflows import Answers, Script
from tests.support.waiting import wait_until

SOON = "100ms"


@pytest.fixture
async def tidy(books: Books, events: MemorySink) -> AsyncIterator[Client]:
    """A client of a server that deletes what it is told to at once, and not after half a minute."""
    queues = ("transfer", "visibility", "timer")
    async with EmbeddedServer(
        headless=True,
        dynamic_config={f"history.{name}ProcessorUpdateAckInterval": SOON for name in queues},
    ) as server:
        yield await server.connect(plugins=[TemperancePlugin(app_of(books, [events]))])


async def delete(client: Client, workflow_id: str, run_id: str) -> None:
    """Deletes a run, as an operator or the end of its retention does."""
    await client.workflow_service.delete_workflow_execution(
        DeleteWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=workflow_id, run_id=run_id),
        )
    )

    async def gone() -> bool:
        try:
            await client.get_workflow_handle(workflow_id, run_id=run_id).describe()
        except RPCError as error:
            return error.status == RPCStatusCode.NOT_FOUND
        return False

    await wait_until(gone, timedelta(seconds=40))


async def asked(client: Client, queue: str, run_id: str) -> Answers:
    """A write, an idempotent write and a read, in a run whose earlier run is gone."""
    handle = script(client, queue)
    for name in ("write", "charge", "read"):
        await handle.signal(Script.ask, ask(name, name, step=name))
    envelopes = await answers(client, queue, run_id, 3)
    return sorted(envelopes, key=lambda envelope: envelope.capability, reverse=True)


async def test_g11_a_write_is_refused_where_an_earlier_run_is_gone(
    tidy: Client, task_queue: str, books: Books, events: MemorySink
) -> None:
    """After a reset: nobody can say what the first run did. Reads and idempotent writes go on.

    After a workflow retry, in a worker that had not read the first run while it was there, nothing
    runs: the key of an execution comes from that run.
    """
    reset_queue, retried_queue = f"{task_queue}-reset", f"{task_queue}-retried"
    async with worker(tidy, reset_queue), worker(tidy, retried_queue):
        rewound = await start(tidy, reset_queue, Plan(hold=True))
        first = str(rewound.first_execution_run_id)
        await task_end_after(tidy, reset_queue, first, 0)
        second = await reset_to_start(tidy, reset_queue, first)
        retried = await tidy.start_workflow(
            Script.run,
            Plan(fails=1, hold=True),
            id=retried_queue,
            task_queue=retried_queue,
            retry_policy=TWICE,
        )
        before_retry = str(retried.first_execution_run_id)
        retry = await next_attempt(tidy, retried_queue, before_retry)
        await delete(tidy, reset_queue, first)
        await delete(tidy, retried_queue, before_retry)
        after_reset = await asked(tidy, reset_queue, second)
        after_retry = await asked(tidy, retried_queue, retry)

    write, read, charge = after_reset
    assert isinstance(write, Failed)
    assert (write.code, write.effect) == ("RESET_FORBIDDEN", "possible")
    assert [read.status, charge.status] == ["completed", "completed"]
    assert {entry.label for entry in books.entries()} == {"read", "charge"}
    failed = [envelope for envelope in after_retry if isinstance(envelope, Failed)]
    assert [envelope.code for envelope in failed] == [
        "RESET_FORBIDDEN",
        "INTERNAL_ERROR",
        "INTERNAL_ERROR",
    ]
    assert {entry.run_id for entry in books.entries()} == {second}
    reasons = {
        event.reason for event in events.events if event.execution_id == failed[0].execution_id
    }
    assert reasons == {None, "unreadable:LookupError"}
