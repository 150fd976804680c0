"""An idempotent write is tried again under one key: a gateway that keeps keys acts once (G5)."""

import signal

from temporalio.client import Client

from temperance import Completed, Failed
from temperance.embedded import EmbeddedServer
from tests.conftest import StartWorker
from tests.guarantees.retries.asking import errand, scheduled, start, worker
from tests.guarantees.retries.capabilities import MAY_DIE
from tests.guarantees.retries.ledger import Ledger

MODULE = "tests.guarantees.retries.worker"


async def test_g5_an_idempotent_write_that_times_out_after_its_effect_charges_once(
    desk: Client, task_queue: str, ledger: Ledger
) -> None:
    """Both attempts give the gateway the same key; the envelope says what became of the first."""
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, errand("desk.charge", "c", "hang", "return"))
        (envelope,) = await handle.result()

    assert isinstance(envelope, Completed)
    assert (envelope.attempts, envelope.errors, envelope.effect) == (2, ("TIMEOUT",), "done")
    assert [entry.key for entry in ledger.entries("c")] == [envelope.idempotency_key] * 2
    assert ledger.charges("c") == [envelope.idempotency_key]
    assert (await scheduled(desk, handle.id))["desk.charge"].retry_policy.maximum_attempts == 3


async def test_g5_an_idempotent_write_whose_worker_is_killed_after_its_effect_charges_once(
    desk: Client,
    embedded: EmbeddedServer,
    task_queue: str,
    ledger: Ledger,
    worker_process: StartWorker,
) -> None:
    """Another process takes over, derives the same key, and the gateway knows it."""
    there = f"{task_queue}-there"
    arguments = (embedded.target_host, there, str(ledger.folder), "activities")
    doomed = await worker_process(MODULE, *arguments, env={MAY_DIE: "yes"})
    async with worker(desk, task_queue):
        order = errand("desk.charge", "c", "die", "return")
        handle = await start(desk, task_queue, order, activity_queue=there)
        assert await doomed.wait() == -signal.SIGKILL
        async with worker(desk, there):
            (envelope,) = await handle.result()

    assert isinstance(envelope, Completed)
    assert (envelope.attempts, envelope.errors, envelope.effect) == (2, ("TIMEOUT",), "done")
    first, second = ledger.entries("c")
    assert first.pid != second.pid
    assert first.key == second.key == envelope.idempotency_key
    assert ledger.charges("c") == [envelope.idempotency_key]


async def test_g5_an_idempotent_write_that_never_returns_charges_once_and_says_that_it_may_have(
    desk: Client, task_queue: str, ledger: Ledger
) -> None:
    """Three attempts, one charge, and effect `possible`: nobody saw the handler return."""
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, errand("desk.charge", "c", "hang", "raise"))
        (envelope,) = await handle.result()

    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.attempts) == ("EXECUTION_FAILED", 3)
    assert envelope.errors == ("TIMEOUT", "EXECUTION_FAILED")
    assert envelope.effect == "possible"
    assert [entry.key for entry in ledger.entries("c")] == [envelope.idempotency_key] * 3
    assert ledger.charges("c") == [envelope.idempotency_key]


async def test_g5_two_requests_for_the_same_are_two_executions_with_a_key_each(
    desk: Client, task_queue: str, ledger: Ledger
) -> None:
    """A second request is not a retry: the gateway charges for each, as it was asked to."""
    order = errand("desk.charge", "c", "hang", "return")
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, order, order)
        first, second = await handle.result()

    assert first.idempotency_key != second.idempotency_key
    assert second.repeat_of == first.execution_id
    assert len(ledger.entries("c")) == 4
    assert sorted(ledger.charges("c")) == sorted([first.idempotency_key, second.idempotency_key])
