"""A write that does not declare itself idempotent is tried once, whatever happens to it (G2)."""

import signal

import pytest
from temporalio.client import Client

from temperance import Failed, TemperancePlugin
from temperance.embedded import EmbeddedServer
from temperance.runtime.error import ErrorCode
from tests.conftest import ServerOnFile, StartWorker
from tests.guarantees.retries.asking import (
    errand,
    scheduled,
    start,
    until_done,
    until_entered,
    worker,
)
from tests.guarantees.retries.capabilities import MAY_DIE, app_in
from tests.guarantees.retries.ledger import Ledger
from tests.guarantees.retries.orders import Act

MODULE = "tests.guarantees.retries.worker"
MAY = {MAY_DIE: "yes"}


@pytest.mark.parametrize(
    ("act", "code"),
    [("raise", "EXECUTION_FAILED"), ("hang", "TIMEOUT"), ("refuse", "EXECUTION_FAILED")],
)
async def test_g2_a_write_that_fails_after_its_effect_is_not_tried_again(
    desk: Client, task_queue: str, ledger: Ledger, act: Act, code: ErrorCode
) -> None:
    """One effect, one attempt by the recorded policy, an envelope that does not hide the effect.

    After another worker has replayed the workflow from its history there is still one.
    """
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, errand("desk.write", "w", act), hold=True)
        await until_done(handle)
    async with worker(desk, task_queue):
        await handle.signal("finish")
        (envelope,) = await handle.result()

    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.effect, envelope.attempts) == (code, "possible", 1)
    assert ledger.effects("w") == len(ledger.entries("w")) == 1
    policy = (await scheduled(desk, handle.id))["desk.write"].retry_policy
    assert policy.maximum_attempts == 1


async def test_g2_a_write_whose_worker_is_killed_is_not_tried_by_another(
    desk: Client,
    embedded: EmbeddedServer,
    task_queue: str,
    ledger: Ledger,
    worker_process: StartWorker,
) -> None:
    """The server notices by its backstop; a second worker finds nothing to do."""
    arguments = (embedded.target_host, task_queue, str(ledger.folder))
    first = await worker_process(MODULE, *arguments, env=MAY)
    handle = await start(desk, task_queue, errand("desk.write", "w", "die"), hold=True)
    assert await first.wait() == -signal.SIGKILL
    async with worker(desk, task_queue):
        await until_done(handle)
    async with worker(desk, task_queue):
        await handle.signal("finish")
        (envelope,) = await handle.result()

    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.effect, envelope.attempts) == ("TIMEOUT", "possible", 1)
    assert ledger.effects("w") == len(ledger.entries("w")) == 1
    assert (await scheduled(desk, handle.id))["desk.write"].retry_policy.maximum_attempts == 1
    types = [event.type for event in ledger.audit(envelope.execution_id)]
    assert types == ["capability.requested", "capability.started", "capability.failed"]


async def test_g2_a_write_that_its_worker_gives_up_at_shutdown_is_not_tried_by_another(
    desk: Client, task_queue: str, ledger: Ledger
) -> None:
    """The handler is interrupted, its effect is possible, and the next worker leaves it alone."""
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, errand("desk.patient_write", "w", "wait"))
        await until_entered(ledger, "w")
    ledger.open_gate("w")
    async with worker(desk, task_queue):
        (envelope,) = await handle.result()

    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.effect) == ("EXECUTION_FAILED", "possible")
    assert "shut down" in envelope.error.message
    assert ledger.effects("w") == len(ledger.entries("w")) == 1


async def test_g2_the_effects_of_failed_writes_are_still_one_each_after_worker_and_server_restarted(
    server_on_file: ServerOnFile, task_queue: str, ledger: Ledger, worker_process: StartWorker
) -> None:
    """Exception, timeout, SIGKILL; then the server is killed and restarted, and a worker new."""
    server = await server_on_file()
    arguments = (server.target_host, task_queue, str(ledger.folder))
    client = await server.connect(plugins=[TemperancePlugin(app_in(ledger.folder))])
    await worker_process(MODULE, *arguments, env=MAY)
    errands = [
        errand("desk.write", "raises", "raise"),
        errand("desk.write", "hangs", "hang"),
        errand("desk.write", "dies", "die"),
    ]
    handle = await start(client, task_queue, *errands, hold=True)
    second = await worker_process(MODULE, *arguments, env=MAY)
    await until_done(handle)
    second.kill()
    await server.kill()
    await server.restart()
    async with worker(client, task_queue):
        await handle.signal("finish")
        envelopes = await handle.result()

    assert [envelope.status for envelope in envelopes] == ["failed"] * 3
    assert [envelope.effect for envelope in envelopes] == ["possible"] * 3
    for case in ("raises", "hangs", "dies"):
        assert ledger.effects(case) == len(ledger.entries(case)) == 1


async def test_g2_a_write_in_flight_while_the_server_is_killed_and_started_again_runs_once(
    server_on_file: ServerOnFile, task_queue: str, ledger: Ledger
) -> None:
    """The server finds the attempt in its file and hands it out to nobody else."""
    server = await server_on_file()
    client = await server.connect(plugins=[TemperancePlugin(app_in(ledger.folder))])
    async with worker(client, task_queue):
        handle = await start(client, task_queue, errand("desk.patient_write", "w", "wait"))
        await until_entered(ledger, "w")
        await server.kill()
        await server.start()
        ledger.open_gate("w")
        (envelope,) = await handle.result()

    assert (envelope.status, envelope.effect, envelope.attempts) == ("completed", "done", 1)
    assert ledger.effects("w") == len(ledger.entries("w")) == 1
