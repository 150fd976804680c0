"""The tools of the tests keep what they say."""

import asyncio
import signal
from datetime import timedelta

import pytest
from temporalio.client import Client

from tests.conftest import StartWorker
from tests.support.docker import missing_docker
from tests.support.history import event_names, history_events
from tests.support.waiting import wait_until


async def test_wait_until_gives_the_first_true_answer_and_fails_with_the_last() -> None:
    answers = iter([None, 0, "yes"])

    async def answer() -> object:
        return next(answers)

    assert await wait_until(answer) == "yes"

    async def never() -> int:
        return 0

    with pytest.raises(AssertionError, match=r"never was not true .* it last gave 0"):
        await wait_until(never, timedelta(milliseconds=30))


async def test_history_events_are_those_of_the_named_run(client: Client, task_queue: str) -> None:
    handle = await client.start_workflow("Nobody", id=task_queue, task_queue=task_queue)
    assert event_names(await history_events(client, task_queue)) == [
        "WORKFLOW_EXECUTION_STARTED",
        "WORKFLOW_TASK_SCHEDULED",
    ]
    await handle.terminate()
    await client.start_workflow("Nobody", id=task_queue, task_queue=task_queue)
    first = await history_events(client, task_queue, handle.first_execution_run_id)
    assert event_names(first)[-1] == "WORKFLOW_EXECUTION_TERMINATED"


async def test_a_worker_process_is_suspended_continued_and_killed(
    worker_process: StartWorker,
) -> None:
    worker = await worker_process("tests.support.idle_process", env={"IDLE_GREETING": "hello"})
    assert worker.output().splitlines()[0] == "hello"

    worker.suspend()
    worker.terminate()
    # SIGTERM waits for SIGCONT: a suspended process takes no notice.
    assert worker.exit_code is None
    worker.resume()
    await worker.until_line("asked to end")
    assert await worker.wait() == 0

    second = await worker_process("tests.support.idle_process")
    second.kill()
    assert await second.wait() == -signal.SIGKILL


async def test_a_worker_process_that_ends_before_it_is_ready_is_told_with_its_output(
    worker_process: StartWorker,
) -> None:
    with pytest.raises(AssertionError, match="No module named"):
        await worker_process("tests.support.absent")
    with pytest.raises(AssertionError) as late:
        await worker_process(
            "tests.support.idle_process", ready="never", timeout=timedelta(seconds=1)
        )
    assert "ready" in late.value.__notes__[0]


def test_an_engine_that_does_not_answer_is_a_reason_and_not_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    reason = missing_docker.__wrapped__()
    assert reason is not None
    assert reason.startswith("no Docker engine answers (")
    assert "\n" not in reason


@pytest.mark.docker
async def test_what_is_marked_docker_runs_only_where_an_engine_answers() -> None:
    assert await asyncio.to_thread(missing_docker) is None
