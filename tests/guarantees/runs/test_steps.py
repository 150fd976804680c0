"""Step ids are checked in workflow code: before anything is scheduled, and without a stuck task."""

import pytest
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client, WorkflowFailureError, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError

from tests.guarantees.runs.books import Books
from tests.guarantees.runs.jobs import Plan
from tests.guarantees.runs.rewinding import answers, ask, finish, start, steps, worker
from tests.guarantees.runs.workflows import Script, Stubborn
from tests.support.history import event_names, history_events

MALFORMED = {
    "": "empty",
    "   ": "white space",
    " refund": "white space",
    "refund ": "white space",
    "re\nfund": "control",
    "re\x00fund": "control",
    "re\u2028fund": "control",
    "x" * 201: "200",
    "7": "number",
    "٣": "number",
}


async def tasks_failed(client: Client, workflow_id: str) -> list[HistoryEvent]:
    """The workflow tasks that failed: each of them would be tried for ever."""
    events = await history_events(client, workflow_id)
    return [e for e in events if event_names([e]) == ["WORKFLOW_TASK_FAILED"]]


async def test_g5_a_repeated_step_fails_the_workflow_and_not_its_task(
    desk: Client, task_queue: str, books: Books
) -> None:
    """The error says which step, and nothing was scheduled for the second request."""
    plan = Plan(asks=(ask("write", "a", step="refund"), ask("write", "b", step="refund")))
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, plan)
        with pytest.raises(WorkflowFailureError) as failure:
            await handle.result()

    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "StepError"
    assert "'refund' was used before in this run" in failure.value.cause.message
    assert await tasks_failed(desk, task_queue) == []
    assert await steps(desk, task_queue) == ["refund"]
    assert [entry.label for entry in books.entries()] == ["a"]


async def test_g5_a_step_repeated_while_the_first_is_pending_fails_the_workflow_and_not_its_task(
    desk: Client, task_queue: str, books: Books
) -> None:
    """The server would refuse a second pending activity of that id in every further task."""
    plan = Plan(
        beside=(ask("write", "a", "wait", step="refund"),),
        asks=(ask("read", "r"), ask("write", "b", step="refund")),
    )
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, plan)
        with pytest.raises(WorkflowFailureError) as failure:
            await handle.result()
        books.open_gate("a")

    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "StepError"
    assert await tasks_failed(desk, task_queue) == []
    assert (await steps(desk, task_queue)).count("refund") == 1
    assert books.entries("b") == []


async def test_g5_a_workflow_may_catch_a_repeated_step_and_go_on(
    desk: Client, task_queue: str, books: Books
) -> None:
    """The step that was refused leaves nothing behind: the next one runs as it would have."""
    plan = Plan(
        asks=(
            ask("write", "a", step="refund"),
            ask("write", "b", step="refund"),
            ask("write", "b", step="refund-b"),
        )
    )
    async with worker(desk, task_queue):
        ends = await desk.execute_workflow(Stubborn.run, plan, id=task_queue, task_queue=task_queue)

    assert [end.split(" ")[0] for end in ends] == ["completed", "step", "completed"]
    assert await tasks_failed(desk, task_queue) == []
    assert await steps(desk, task_queue) == ["refund", "refund-b"]
    assert [entry.repeat_of for entry in books.entries()] == [None, None]


async def test_g5_a_repeated_step_in_an_update_fails_the_update_alone(
    desk: Client, task_queue: str, books: Books
) -> None:
    """Who asked is told; the workflow goes on."""
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, Plan(hold=True))
        await handle.execute_update(Script.ask_now, ask("write", "a", step="refund"))
        with pytest.raises(WorkflowUpdateFailedError) as failure:
            await handle.execute_update(Script.ask_now, ask("write", "b", step="refund"))
        await handle.execute_update(Script.ask_now, ask("write", "c", step="refund-c"))
        envelopes = await finish(desk, task_queue)

    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "StepError"
    assert [envelope.status for envelope in envelopes] == ["completed", "completed"]
    assert [entry.label for entry in books.entries()] == ["a", "c"]


async def test_g5_a_repeated_step_in_a_signal_fails_the_workflow_and_not_its_task(
    desk: Client, task_queue: str, books: Books
) -> None:
    """A signal has nobody to tell but the workflow."""
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, Plan(hold=True))
        await handle.signal(Script.ask, ask("write", "a", step="refund"))
        await answers(desk, task_queue, None, 1)
        await handle.signal(Script.ask, ask("write", "b", step="refund"))
        with pytest.raises(WorkflowFailureError) as failure:
            await handle.result()

    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "StepError"
    assert await tasks_failed(desk, task_queue) == []
    assert [entry.label for entry in books.entries()] == ["a"]


async def test_g5_a_malformed_step_is_refused_before_anything_is_scheduled(
    desk: Client, task_queue: str, books: Books
) -> None:
    """Empty, blank at an end, overlong, with control characters, or a number.

    The SDK numbers the activities that are scheduled by hand, so a number could meet one of those.
    What is malformed is not repeated in the error.
    """
    plan = Plan(asks=tuple(ask("write", "a", step=step) for step in MALFORMED))
    async with worker(desk, task_queue):
        ends = await desk.execute_workflow(Stubborn.run, plan, id=task_queue, task_queue=task_queue)

    for (step, reason), end in zip(MALFORMED.items(), ends, strict=True):
        assert end.startswith("step "), (step, end)
        assert reason in end, (step, end)
        assert "\n" not in end
        assert "fund" not in end
    assert await steps(desk, task_queue) == []
    assert await tasks_failed(desk, task_queue) == []
    assert books.entries() == []


async def test_g5_an_explicit_step_that_looks_like_an_automatic_one_does_not_meet_it(
    desk: Client, task_queue: str, books: Books
) -> None:
    """Given before: the automatic id counts on. Given after: it was used before."""
    async with worker(desk, task_queue):
        probe = await start(desk, task_queue, Plan(asks=(ask("write", "a"),)), f"{task_queue}-0")
        await probe.result()
        (automatic,) = await steps(desk, probe.id)

        before = (ask("write", "b", step=automatic), ask("write", "a"), ask("write", "a"))
        handle = await start(desk, task_queue, Plan(asks=before), f"{task_queue}-1")
        await handle.result()
        ends = await desk.execute_workflow(
            Stubborn.run,
            Plan(asks=(ask("write", "a"), ask("write", "b", step=automatic))),
            id=f"{task_queue}-2",
            task_queue=task_queue,
        )

    stem = automatic.removesuffix("1")
    assert await steps(desk, f"{task_queue}-1") == [automatic, f"{stem}2", f"{stem}3"]
    assert ends[0] == "completed"
    assert "was used before in this run" in ends[1]
    assert len({entry.key for entry in books.entries()}) == len(books.entries()) == 5
