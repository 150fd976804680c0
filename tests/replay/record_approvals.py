"""Records histories of approvals, and of workflows that ask for them; see `record`."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final
from uuid import uuid4

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle

from temperance import Actor, Approvals, CapabilityError
from temperance.runtime.approval import approval_id
from temperance.runtime.identity import workflow_execution_id
from tests.replay import shop
from tests.replay.stories import Approved
from tests.support.waiting import wait_until

BOB: Final = Actor(id="bob")
QUEUE: Final = "stories"

Handle = WorkflowHandle[Approved, list[str]]
Place = tuple[str, str | None]
Recorder = Callable[[Client], Awaitable[Place]]


async def pending(client: Client) -> Place:
    """One that waits for a decision."""
    return (await _asked(client, await _start(client, "wait")), None)


async def executing(client: Client) -> Place:
    """One that was approved, while the handler runs."""
    entered = len(shop.entries)
    approval = await _asked(client, await _start(client, "hang"))
    await Approvals(client).approve(approval, approver=BOB, comment="Fine.", source="web")

    async def begun() -> bool:
        return len(shop.entries) > entered

    await wait_until(begun)
    return (approval, None)


async def completed(client: Client) -> Place:
    """One that was approved and executed."""
    return (await _decided(client, await _start(client, "wait")), None)


async def rejected(client: Client) -> Place:
    """One that was rejected."""
    handle = await _start(client, "wait")
    approval = await _asked(client, handle)
    await Approvals(client).reject(approval, approver=BOB, comment="No.")
    await handle.result()
    return (approval, None)


async def expired(client: Client) -> Place:
    """One that nobody decided."""
    handle = await _start(client, "lend")
    await handle.result()
    return (_of(client, handle), None)


async def withdrawn(client: Client) -> Place:
    """One that was withdrawn by an update."""
    handle = await _start(client, "wait")
    approval = await _asked(client, handle)
    await Approvals(client).cancel(approval, by=Actor(id="ada"))
    await handle.result()
    return (approval, None)


async def cancelled(client: Client) -> Place:
    """One whose workflow was cancelled."""
    handle = await _start(client, "wait")
    approval = await _asked(client, handle)
    await handle.cancel()
    with suppress(WorkflowFailureError):
        await handle.result()
    return (approval, None)


async def reset(client: Client) -> Place:
    """One that was rewound after its execution: the decision is applied again."""
    approval = await _decided(client, await _start(client, "wait"))
    return (approval, await _rewind(client, approval))


async def asking_pending(client: Client) -> Place:
    """A workflow that waits for an approval."""
    handle = await _start(client, "wait")
    await _asked(client, handle)
    return (handle.id, None)


async def asking_completed(client: Client) -> Place:
    """A workflow with an approval that was held, one that was joined, and what needs none."""
    handle = await _start(client, "several")
    await Approvals(client).reject(await _asked(client, handle, "held"), approver=BOB)
    # Of the two that are asked for at once, one joins the other: which one, time tells.
    either = {_of(client, handle, step) for step in ("ask", "join")}

    async def approved() -> bool:
        for approval in either:
            with suppress(CapabilityError):
                await Approvals(client).approve(approval, approver=BOB)
                return True
        return False

    await wait_until(approved)
    await handle.result()
    return (handle.id, None)


async def asking_cancelled(client: Client) -> Place:
    """A workflow that was cancelled while it waited for an approval."""
    handle = await _start(client, "wait")
    await _asked(client, handle)
    await handle.cancel()
    with suppress(WorkflowFailureError):
        await handle.result()
    return (handle.id, None)


async def asking_reset(client: Client) -> Place:
    """A workflow that was rewound: it attaches to the approval that it had asked for."""
    handle = await _start(client, "wait")
    await _decided(client, handle)
    return (handle.id, await _rewind(client, handle.id))


APPROVALS: Final[dict[str, Recorder]] = {
    f"approval-{recorder.__name__.replace('_', '-')}": recorder
    for recorder in (
        *(pending, executing, completed, rejected, expired, withdrawn, cancelled, reset),
        *(asking_pending, asking_completed, asking_cancelled, asking_reset),
    )
}


async def _start(client: Client, then: str) -> Handle:
    id_ = f"approved-{uuid4()}"
    return await client.start_workflow(Approved.run, then, id=id_, task_queue=QUEUE)


def _of(client: Client, handle: Handle, step: str = "ask") -> str:
    run = str(handle.first_execution_run_id)
    return approval_id(workflow_execution_id(client.namespace, handle.id, run, step))


async def _asked(client: Client, handle: Handle, step: str = "ask") -> str:
    approval = _of(client, handle, step)

    async def there() -> bool:
        try:
            await Approvals(client).show(approval)
        except CapabilityError:
            return False
        return True

    await wait_until(there)
    return approval


async def _decided(client: Client, handle: Handle) -> str:
    approval = await _asked(client, handle)
    await Approvals(client).approve(approval, approver=BOB, comment="Fine.", source="cli")
    await handle.result()
    return approval


async def _rewind(client: Client, workflow_id: str) -> str:
    """Rewinds a workflow to its first task, and waits for the new run."""
    described = await client.get_workflow_handle(workflow_id).describe()
    response = await client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=workflow_id, run_id=described.run_id),
            workflow_task_finish_event_id=4,
            request_id=str(uuid4()),
            reason="a story",
        )
    )
    await client.get_workflow_handle(workflow_id, run_id=response.run_id).result()
    return response.run_id
