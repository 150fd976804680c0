"""After a reset an attempt that never began does not prove that nothing was done (G11)."""

from typing import Literal

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client

from temperance import (
    Actor,
    ApprovalRequired,
    Approvals,
    Cancelled,
    Failed,
    MemorySink,
    TemperancePlugin,
)
from temperance.embedded import EmbeddedServer
from tests.guarantees.runs.books import Books
from tests.guarantees.runs.capabilities import app_of
from tests.guarantees.runs.jobs import Plan
from tests.guarantees.runs.rewinding import (
    answers,
    ask,
    finish,
    reset_to_start,
    scheduled,
    start,
    steps,
    worker,
)
from tests.support.history import history_events
from tests.support.waiting import wait_until


@pytest.mark.parametrize("capability", ["write", "charge"])
@pytest.mark.parametrize("rewound", [True, False])
async def test_g11_a_worker_of_an_older_build_does_not_deny_what_an_earlier_run_did(
    embedded: EmbeddedServer,
    desk: Client,
    task_queue: str,
    books: Books,
    *,
    capability: Literal["write", "charge"],
    rewound: bool,
) -> None:
    """It lacks the capability and so cannot know; only in a first run that means effect none."""
    queue = f"{task_queue}-activities"
    older = app_of(books, without=f"runs.{capability}")
    other = await embedded.connect(plugins=[TemperancePlugin(older)])
    plan = Plan(asks=(ask(capability, "w", queue=queue),), hold=True)
    async with worker(desk, task_queue):
        if rewound:
            async with worker(desk, queue):
                handle = await start(desk, task_queue, plan)
                first = str(handle.first_execution_run_id)
                (done,) = await answers(desk, task_queue, first, 1)
            assert done.status == "completed"
            await reset_to_start(desk, task_queue, first)
        else:
            await start(desk, task_queue, plan)
        async with worker(other, queue):
            (envelope,) = await finish(desk, task_queue)

    assert isinstance(envelope, Failed)
    assert envelope.code == "INTERNAL_ERROR"
    assert envelope.effect == ("possible" if rewound else "none")
    assert "nothing was run" not in envelope.error.message or not rewound
    assert len(books.entries("w")) == (1 if rewound else 0)


async def test_g11_a_queue_that_nobody_serves_does_not_deny_what_an_earlier_run_did(
    desk: Client, task_queue: str, books: Books, events: MemorySink
) -> None:
    """The write was done, the workflow rewound, and then no worker took it in time."""
    queue = f"{task_queue}-activities"
    plan = Plan(asks=(ask("queued_write", "w", queue=queue),), hold=True)
    async with worker(desk, task_queue):
        async with worker(desk, queue):
            handle = await start(desk, task_queue, plan)
            first = str(handle.first_execution_run_id)
            await answers(desk, task_queue, first, 1)
        second = await reset_to_start(desk, task_queue, first)
        (envelope,) = await finish(desk, task_queue)

    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.effect) == ("TIMEOUT", "possible")
    assert len(books.entries("w")) == 1
    ends = [event for event in events.events if event.run_id == second and event.effect]
    assert [event.effect for event in ends] == ["possible"]


async def test_g11_a_cancellation_before_the_start_does_not_deny_what_an_earlier_run_did(
    desk: Client, task_queue: str, books: Books
) -> None:
    """The write was done, the workflow rewound, and then cancelled while the write was waiting."""
    queue = f"{task_queue}-activities"
    plan = Plan(asks=(ask("write", "w", queue=queue),), hold=True)
    async with worker(desk, task_queue):
        async with worker(desk, queue):
            handle = await start(desk, task_queue, plan)
            first = str(handle.first_execution_run_id)
            await answers(desk, task_queue, first, 1)
        (step,) = await steps(desk, task_queue, first)
        second = await reset_to_start(desk, task_queue, first)
        await scheduled(desk, task_queue, second, step)
        await desk.get_workflow_handle(task_queue, run_id=second).cancel()
        (envelope,) = await answers(desk, task_queue, second, 1)

    assert isinstance(envelope, Cancelled)
    assert (envelope.attempts, envelope.effect) == (0, "possible")
    assert len(books.entries("w")) == 1


async def test_g3_a_cancellation_before_asking_again_does_not_deny_what_was_approved_before(
    desk: Client, task_queue: str, books: Books
) -> None:
    """Asked, approved and done; then rewound, and cancelled before a person was asked again."""
    queue = f"{task_queue}-activities"
    plan = Plan(asks=(ask("approved_write", "w", queue=queue),), hold=True)
    async with worker(desk, task_queue):
        async with worker(desk, queue):
            handle = await start(desk, task_queue, plan)
            first = str(handle.first_execution_run_id)
            (asked,) = await answers(desk, task_queue, first, 1)
            assert isinstance(asked, ApprovalRequired)
            approval = str(asked.approval_id)
            approvals = Approvals(desk)
            await approvals.approve(approval, approver=Actor(id="grace"))
            done = await approvals.outcome(approval)
        (step,) = await steps(desk, task_queue, first)
        second = await reset_to_start(desk, task_queue, first)
        await scheduled(desk, task_queue, second, step)

    async def answered() -> bool:
        events = await history_events(desk, task_queue, second)
        return any(e.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED for e in events)

    async with worker(desk, queue):
        await wait_until(answered)
    await desk.get_workflow_handle(task_queue, run_id=second).cancel()
    async with worker(desk, task_queue):
        (envelope,) = await answers(desk, task_queue, second, 1)

    assert done.status == "completed"
    assert isinstance(envelope, Cancelled)
    assert (envelope.code, envelope.error.stage) == ("CANCELLED", "approval")
    assert envelope.effect == "possible"
    assert envelope.execution_id == asked.execution_id
    assert len(books.entries("w")) == 1
