"""The activity does not trust whoever scheduled it: the metadata's own limit holds (G2, G5).

Here a workflow that knows nothing of the library schedules the activities by hand, with one
dictionary as input and a policy of unlimited attempts.
"""

import json
import signal
from datetime import timedelta
from uuid import UUID, uuid5

import pytest
from temporalio.client import Client, WorkflowHandle

from temperance.embedded import EmbeddedServer
from tests.conftest import StartWorker
from tests.guarantees.retries.asking import scheduled, worker
from tests.guarantees.retries.capabilities import MAY_DIE
from tests.guarantees.retries.ledger import Ledger
from tests.guarantees.retries.orders import Act, Order
from tests.guarantees.retries.workflows import Foreign, ForeignCode, ForeignEnd
from tests.support.history import history_events

MODULE = "tests.guarantees.retries.worker"
CASE = "foreign"
EXECUTIONS = UUID("5b0c1a52-3f0e-5d5e-9d2c-6f1f0b7f4a01")
KEYS = UUID("5b0c1a52-3f0e-5d5e-9d2c-6f1f0b7f4a02")


async def schedule(
    client: Client,
    queue: str,
    capability: str,
    *acts: Act,
    activity_queue: str | None = None,
    retry: bool = False,
) -> WorkflowHandle[ForeignCode, ForeignEnd]:
    """Start a workflow that schedules the activity by hand."""
    foreign = Foreign(
        capability=capability,
        order=Order(case=CASE, acts=acts),
        start_to_close=timedelta(seconds=1),
        queue=activity_queue,
        retry=retry,
    )
    return await client.start_workflow(ForeignCode.run, foreign, id=queue, task_queue=queue)


@pytest.mark.parametrize(("act", "code"), [("raise", "EXECUTION_FAILED"), ("hang", "TIMEOUT")])
async def test_g2_a_write_that_foreign_code_scheduled_without_limit_enters_its_handler_once(
    desk: Client, task_queue: str, ledger: Ledger, act: Act, code: str
) -> None:
    """Temporal's default policy would go on for ever; the failure itself says that it must not."""
    async with worker(desk, task_queue):
        handle = await schedule(desk, task_queue, "desk.write", act)
        end = await handle.result()

    policy = (await scheduled(desk, task_queue))["desk.write"].retry_policy
    assert policy.maximum_attempts == 0, "without limit, or this test shows nothing"
    assert (end.type, end.non_retryable) == (code, True)
    assert end.retry_state == "NON_RETRYABLE_FAILURE"
    assert end.details["effect"] == "possible"
    assert ledger.effects(CASE) == len(ledger.entries(CASE)) == 1


async def test_g2_a_write_of_foreign_code_whose_worker_was_killed_is_refused_a_second_attempt(
    desk: Client,
    embedded: EmbeddedServer,
    task_queue: str,
    ledger: Ledger,
    worker_process: StartWorker,
) -> None:
    """The server starts attempt 2; the activity refuses it before the handler, and for good."""
    there = f"{task_queue}-there"
    arguments = (embedded.target_host, there, str(ledger.folder), "activities")
    doomed = await worker_process(MODULE, *arguments, env={MAY_DIE: "yes"})
    async with worker(desk, task_queue):
        handle = await schedule(
            desk, task_queue, "desk.write", "die", "return", activity_queue=there
        )
        assert await doomed.wait() == -signal.SIGKILL
        async with worker(desk, there):
            end = await handle.result()

    assert (end.type, end.non_retryable) == ("RETRY_FORBIDDEN", True)
    assert end.details["effect"] == "possible"
    assert (end.details["attempts"], end.details["errors"]) == (2, ["TIMEOUT"])
    (entry,) = ledger.entries(CASE)
    assert ledger.effects(CASE) == 1
    assert [(event.type, event.attempt) for event in ledger.audit(entry.execution_id)] == [
        ("capability.requested", 1),
        ("capability.started", 1),
        ("capability.retried", 2),
        ("capability.failed", 2),
    ]


async def test_g2_a_read_that_foreign_code_scheduled_without_limit_stops_at_its_own_maximum(
    desk: Client, task_queue: str, ledger: Ledger
) -> None:
    """Three attempts by the metadata, whatever the policy; the last failure is not retryable."""
    async with worker(desk, task_queue):
        handle = await schedule(desk, task_queue, "desk.read", "raise", retry=True)
        end = await handle.result()

    assert (await scheduled(desk, task_queue))["desk.read"].retry_policy.maximum_attempts == 0
    assert (end.type, end.non_retryable) == ("EXECUTION_FAILED", True)
    assert end.details["attempts"] == 3
    assert [entry.attempt for entry in ledger.entries(CASE)] == [1, 2, 3]


async def test_g2_a_read_of_foreign_code_whose_last_worker_was_killed_is_refused_one_more_attempt(
    desk: Client,
    embedded: EmbeddedServer,
    task_queue: str,
    ledger: Ledger,
    worker_process: StartWorker,
) -> None:
    """Attempt 3 of 3 could not say that it was the last; the metadata refuses the fourth."""
    there = f"{task_queue}-there"
    arguments = (embedded.target_host, there, str(ledger.folder), "activities")
    doomed = await worker_process(MODULE, *arguments, env={MAY_DIE: "yes"})
    async with worker(desk, task_queue):
        acts: tuple[Act, ...] = ("raise", "raise", "die", "return")
        handle = await schedule(
            desk, task_queue, "desk.read", *acts, activity_queue=there, retry=True
        )
        assert await doomed.wait() == -signal.SIGKILL
        async with worker(desk, there):
            end = await handle.result()

    assert (end.type, end.non_retryable) == ("RETRY_FORBIDDEN", True)
    assert end.details["errors"] == ["EXECUTION_FAILED", "EXECUTION_FAILED", "TIMEOUT"]
    assert [entry.attempt for entry in ledger.entries(CASE)] == [1, 2, 3]


async def test_g5_the_key_of_an_activity_that_foreign_code_scheduled_is_the_documented_one(
    desk: Client, task_queue: str, ledger: Ledger
) -> None:
    """Foreign code passes no original run id: the activity reads it from the workflow's history."""
    async with worker(desk, task_queue):
        handle = await schedule(desk, task_queue, "desk.charge", "hang", "return", retry=True)
        end = await handle.result()

    events = await history_events(desk, task_queue)
    original = events[0].workflow_execution_started_event_attributes.original_execution_run_id
    activity_id = (await scheduled(desk, task_queue))["desk.charge"].activity_id
    name = json.dumps([desk.namespace, task_queue, original, activity_id], separators=(",", ":"))
    key = str(uuid5(KEYS, str(uuid5(EXECUTIONS, name))))
    assert end.output is not None
    assert [entry.key for entry in ledger.entries(CASE)] == [key, key]
    assert ledger.charges(CASE) == [key]
