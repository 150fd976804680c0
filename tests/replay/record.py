"""Records histories of the stories on a real server.

    python -m tests.replay.record NAME ...      writes histories/NAME.json, where it is not there

A committed history is never written anew: what one release recorded, every later one must replay.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Final
from uuid import uuid4

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client, WorkflowFailureError
from temporalio.common import RetryPolicy
from temporalio.worker import Worker

from temperance import MemorySink, TemperancePlugin
from temperance.embedded import EmbeddedServer
from tests.replay import shop
from tests.replay.record_approvals import APPROVALS
from tests.replay.stories import STORIES, Again, Cancelled, Everything, Local, Settled
from tests.support.waiting import wait_until

HISTORIES: Final = Path(__file__).parent / "histories"
QUEUE: Final = "stories"


async def finished(client: Client) -> str | None:
    """One of each, to the end."""
    handle = await client.start_workflow(Everything.run, id="finished", task_queue=QUEUE)
    await _told(client, "finished", "given up")
    await handle.signal(Everything.more, shop.Order(id="s-1"))
    await handle.execute_update(Everything.more_now, shop.Order(id="s-1", act="decline"))
    await handle.signal(Everything.finish)
    await handle.result()
    return None


async def running(client: Client) -> str | None:
    """The same, while a handler runs and a signal has arrived."""
    handle = await client.start_workflow(Everything.run, id="running", task_queue=QUEUE)
    await _told(client, "running", "given up")
    await handle.signal(Everything.more, shop.Order(id="s-1", act="hang"))
    await handle.execute_update(Everything.more_now, shop.Order(id="s-2"))
    return None


async def cancelled(client: Client) -> str | None:
    """A workflow that was cancelled while a handler ran."""
    entered = len(shop.entries)
    handle = await client.start_workflow(Cancelled.run, id="cancelled", task_queue=QUEUE)

    async def begun() -> bool:
        return len(shop.entries) > entered

    await wait_until(begun)
    await handle.cancel()
    with suppress(WorkflowFailureError):
        await handle.result()
    return None


async def retried(client: Client) -> str | None:
    """The second attempt of a workflow."""
    handle = await client.start_workflow(
        Again.run,
        "fail once",
        id="retried",
        task_queue=QUEUE,
        retry_policy=RetryPolicy(maximum_attempts=2, initial_interval=timedelta(milliseconds=1)),
    )
    await handle.result()
    return (await client.get_workflow_handle("retried").describe()).run_id


async def rewound(client: Client) -> str | None:
    """The run that a reset started: it gets a recorded result and a refusal."""
    handle = await client.start_workflow(Again.run, "hold", id="rewound", task_queue=QUEUE)
    await handle.signal(Again.finish)
    await handle.result()
    response = await client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(
                workflow_id="rewound", run_id=str(handle.first_execution_run_id)
            ),
            workflow_task_finish_event_id=4,
            request_id=str(uuid4()),
            reason="a story",
        )
    )
    await client.get_workflow_handle("rewound", run_id=response.run_id).result()
    return response.run_id


async def continued(client: Client) -> str | None:
    """A run that continued as new."""
    handle = await client.start_workflow(Again.run, "continue", id="continued", task_queue=QUEUE)
    await handle.result()
    return str(handle.first_execution_run_id)


async def step_repeated(client: Client) -> str | None:
    """A workflow that failed because it repeated a step."""
    handle = await client.start_workflow(
        Again.run, "repeat a step", id="step_repeated", task_queue=QUEUE
    )
    with suppress(WorkflowFailureError):
        await handle.result()
    return None


async def local(client: Client) -> str | None:
    """Reads that run in the asking worker."""
    handle = await client.start_workflow(Local.run, id="local", task_queue=QUEUE)

    async def all_told() -> bool:
        return len(await handle.query(Local.so_far)) == 11

    await wait_until(all_told)
    await handle.signal(Local.more, shop.Order(id="o-5", act="fail once"))

    async def more_told() -> bool:
        return len(await handle.query(Local.so_far)) == 12

    await wait_until(more_told)
    await handle.signal(Local.finish)
    await handle.result()
    return None


async def settled(client: Client) -> str | None:
    """Writes that were asked about."""
    await client.execute_workflow(Settled.run, id="settled", task_queue=QUEUE)
    return None


Place = tuple[str, str | None]
"""Workflow id and run id; the latest run where none is named."""

RECORDERS: Final[dict[str, Callable[[Client], Awaitable[str | Place | None]]]] = {
    **{
        recorder.__name__: recorder
        for recorder in (
            *(finished, running, cancelled, retried, rewound, continued, step_repeated),
            local,
            settled,
        )
    },
    **APPROVALS,
}
"""They give the run id, where it is not the latest; the workflow id is the name unless given."""


async def _told(client: Client, workflow_id: str, what: str) -> None:
    async def found() -> bool:
        return what in await client.get_workflow_handle(workflow_id).query(Everything.so_far)

    await wait_until(found)


def _without_stacks(members: dict[str, object]) -> dict[str, object]:
    """Stacks name the machine that recorded, and a replay does not read them."""
    return {key: value for key, value in members.items() if key != "stackTrace"}


async def main(names: list[str]) -> None:
    """Record these histories, where they are not there yet."""
    for path in (HISTORIES / f"{name}.json" for name in names):
        if path.exists():
            sys.exit(f"{path} is there: a committed history is never written anew")
    async with EmbeddedServer(headless=True) as server:
        client = await Client.connect(
            server.target_host,
            identity="recorder",
            plugins=[TemperancePlugin(shop.shop([MemorySink()]))],
        )
        async with Worker(
            client,
            task_queue=QUEUE,
            workflows=STORIES,
            graceful_shutdown_timeout=timedelta(milliseconds=1),
        ):
            for name in names:
                place = await RECORDERS[name](client)
                id_, run_id = place if isinstance(place, tuple) else (name, place)
                history = await client.get_workflow_handle(id_, run_id=run_id).fetch_history()
                wire: object = json.loads(history.to_json(), object_hook=_without_stacks)
                text = json.dumps(wire, indent=1, ensure_ascii=False)
                (HISTORIES / f"{name}.json").write_text(text + "\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or list(RECORDERS)))
