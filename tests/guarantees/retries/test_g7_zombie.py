"""A worker that was suspended past its timeout and continued has no say any more (G1, G7)."""

from datetime import UTC, timedelta

import pytest
from temporalio.client import Client

from temperance import Completed, Failed
from temperance.embedded import EmbeddedServer
from temperance.runtime.event import TERMINAL
from tests.conftest import StartWorker
from tests.guarantees.retries.asking import (
    errand,
    start,
    until_done,
    until_entered,
    until_polled,
    worker,
)
from tests.guarantees.retries.capabilities import MAY_DIE
from tests.guarantees.retries.ledger import Ledger
from tests.guarantees.retries.orders import Act, Order
from tests.guarantees.retries.workflows import Foreign, ForeignCode
from tests.support.history import event_names, history_events
from tests.support.processes import WorkerProcess
from tests.support.waiting import wait_until

MODULE = "tests.guarantees.retries.worker"
MAY = {MAY_DIE: "yes"}


def terminal_events(ledger: Ledger, execution_id: str) -> list[str]:
    """The recorded ends of an execution: there must be one."""
    return [event.type for event in ledger.audit(execution_id) if event.type in TERMINAL]


async def continue_to_its_end(zombie: WorkerProcess) -> None:
    """Let a suspended worker report what it has, and end in good order."""
    zombie.resume()
    zombie.terminate()
    assert await zombie.wait() == 0, zombie.output()


async def test_g7_a_write_that_returns_after_its_worker_was_suspended_is_not_believed(
    desk: Client,
    embedded: EmbeddedServer,
    task_queue: str,
    ledger: Ledger,
    worker_process: StartWorker,
) -> None:
    """The server closed the attempt; what the handler returns afterwards changes nothing."""
    there = f"{task_queue}-there"
    arguments = (embedded.target_host, there, str(ledger.folder), "activities")
    zombie = await worker_process(MODULE, *arguments, env=MAY)
    async with worker(desk, task_queue):
        order = errand("desk.write", "w", "stop")
        handle = await start(desk, task_queue, order, activity_queue=there, hold=True)
        await until_done(handle)
        before = event_names(await history_events(desk, handle.id))
        await continue_to_its_end(zombie)
        assert event_names(await history_events(desk, handle.id)) == before
        await handle.signal("finish")
        (envelope,) = await handle.result()

    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.effect, envelope.attempts) == ("TIMEOUT", "possible", 1)
    assert ledger.effects("w") == len(ledger.entries("w")) == 1
    assert ledger.returns("w") == [1], "the zombie did not go on"
    assert terminal_events(ledger, envelope.execution_id) == ["capability.failed"]


async def test_g7_an_idempotent_write_is_completed_by_another_worker_and_not_by_the_zombie(
    desk: Client,
    embedded: EmbeddedServer,
    task_queue: str,
    ledger: Ledger,
    worker_process: StartWorker,
) -> None:
    """One charge, one completed envelope of attempt 2, one terminal event."""
    there = f"{task_queue}-there"
    arguments = (embedded.target_host, there, str(ledger.folder), "activities")
    zombie = await worker_process(MODULE, *arguments, env=MAY)
    async with worker(desk, task_queue):
        order = errand("desk.charge", "c", "stop", "return")
        handle = await start(desk, task_queue, order, activity_queue=there, hold=True)
        await until_entered(ledger, "c")
        async with worker(desk, there):
            await until_done(handle)
        await continue_to_its_end(zombie)
        await handle.signal("finish")
        (envelope,) = await handle.result()

    assert isinstance(envelope, Completed)
    assert (envelope.attempts, envelope.errors) == (2, ("TIMEOUT",))
    assert envelope.output == {"case": "c", "attempt": 2}
    first, second = ledger.entries("c")
    assert ledger.returns("c") == [2, 1], "the zombie did not go on"
    assert (first.pid, first.key) == (zombie.pid, second.key)
    assert ledger.charges("c") == [envelope.idempotency_key]
    assert terminal_events(ledger, envelope.execution_id) == ["capability.completed"]
    (retried,) = [
        event for event in ledger.audit(envelope.execution_id) if event.type == "capability.retried"
    ]
    assert (retried.attempt, retried.previous_error) == (2, "TIMEOUT")


async def test_g7_a_zombie_of_the_last_attempt_does_not_end_the_execution_a_second_time(
    desk: Client,
    embedded: EmbeddedServer,
    task_queue: str,
    ledger: Ledger,
    worker_process: StartWorker,
) -> None:
    """Workflow and zombie know the same number of attempts: one end is recorded."""
    there = f"{task_queue}-there"
    arguments = (embedded.target_host, there, str(ledger.folder), "activities")
    zombie = await worker_process(MODULE, *arguments, env=MAY)
    async with worker(desk, task_queue):
        order = errand("desk.charge", "c", "raise", "raise", "stop")
        handle = await start(desk, task_queue, order, activity_queue=there, hold=True)
        await until_done(handle)
        await continue_to_its_end(zombie)
        await handle.signal("finish")
        (envelope,) = await handle.result()

    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.effect, envelope.attempts) == ("TIMEOUT", "possible", 3)
    assert envelope.errors == ("EXECUTION_FAILED", "EXECUTION_FAILED")
    assert ledger.returns("c") == [3], "the zombie did not go on"
    assert terminal_events(ledger, envelope.execution_id) == ["capability.failed"]


async def test_g7_a_write_that_reaches_its_worker_after_the_server_closed_it_is_not_begun(
    desk: Client,
    embedded: EmbeddedServer,
    task_queue: str,
    ledger: Ledger,
    worker_process: StartWorker,
) -> None:
    """A worker is suspended while it waits for work, and gets some that it does not know of.

    When it is continued the workflow has long been told that the write timed out: an effect now
    would be a surprise to everybody.
    """
    there = f"{task_queue}-there"
    arguments = (embedded.target_host, there, str(ledger.folder), "activities")
    zombie = await worker_process(MODULE, *arguments, env=MAY)
    await until_polled(desk, there)
    zombie.suspend()
    async with worker(desk, task_queue):
        order = errand("desk.write", "w", "return")
        handle = await start(desk, task_queue, order, activity_queue=there)
        (envelope,) = await handle.result()
        await continue_to_its_end(zombie)

    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.effect) == ("TIMEOUT", "possible")
    assert ledger.effects("w") == len(ledger.entries("w")) == 0
    assert terminal_events(ledger, envelope.execution_id) == ["capability.failed"]


@pytest.mark.parametrize("act", ["stop", "nap"])
async def test_g7_a_handler_that_ends_in_time_after_its_heartbeats_were_missed_records_no_end(  # noqa: PLR0917 - fixtures
    desk: Client,
    embedded: EmbeddedServer,
    task_queue: str,
    ledger: Ledger,
    worker_process: StartWorker,
    act: Act,
) -> None:
    """Its own deadline is far, but the server gave it up: what became of it is others' to say.

    A heartbeat that goes out before the handler ends does not make good for the missed ones.
    """
    there = f"{task_queue}-there"
    arguments = (embedded.target_host, there, str(ledger.folder), "activities")
    zombie = await worker_process(MODULE, *arguments, env=MAY)
    foreign = Foreign(
        capability="desk.patient_write",
        order=Order(case="w", acts=(act,)),
        start_to_close=timedelta(seconds=60),
        heartbeat=timedelta(seconds=1),
        queue=there,
    )
    async with worker(desk, task_queue):
        handle = await desk.start_workflow(
            ForeignCode.run, foreign, id=task_queue, task_queue=task_queue
        )
        await until_entered(ledger, "w")
        async with worker(desk, there):
            end = await handle.result()
        await continue_to_its_end(zombie)

    assert (end.type, end.details["errors"]) == ("RETRY_FORBIDDEN", ["TIMEOUT"])
    (entry,) = ledger.entries("w")
    assert ledger.returns("w") == [1], "the zombie did not go on"
    assert terminal_events(ledger, entry.execution_id) == ["capability.failed"]


async def test_g7_an_attempt_beats_as_often_as_whoever_scheduled_it_wants(
    desk: Client, task_queue: str, ledger: Ledger
) -> None:
    """Foreign code asks for a heartbeat each second; a longer handler is not given up."""
    heartbeat = timedelta(seconds=1)
    foreign = Foreign(
        capability="desk.patient_write",
        order=Order(case="w", acts=("wait",)),
        start_to_close=timedelta(seconds=60),
        heartbeat=heartbeat,
    )
    async with worker(desk, task_queue):
        handle = await desk.start_workflow(
            ForeignCode.run, foreign, id=task_queue, task_queue=task_queue
        )

        async def has_outlasted_it() -> bool:
            described = (await handle.describe()).raw_description
            return any(
                pending.last_heartbeat_time.ToDatetime(UTC)
                - pending.last_started_time.ToDatetime(UTC)
                > heartbeat * 1.5
                or pending.attempt > 1
                for pending in described.pending_activities
            )

        await wait_until(has_outlasted_it)
        ledger.open_gate("w")
        end = await handle.result()

    assert end.type is None, "it failed"
    assert [entry.attempt for entry in ledger.entries("w")] == [1]
