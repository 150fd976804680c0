"""Attempts of one execution are told apart, and their schedule is the declared one (G4)."""

import signal
from dataclasses import replace
from datetime import timedelta

import pytest
from temporalio.client import Client

from temperance import Completed, Event, Failed, TemperancePlugin
from temperance.embedded import EmbeddedServer
from temperance.runtime.error import ErrorCode
from tests.conftest import StartWorker
from tests.guarantees.retries.asking import errand, scheduled, start, worker
from tests.guarantees.retries.capabilities import BUSY_FOR, MAY_DIE, app_in
from tests.guarantees.retries.ledger import Ledger
from tests.guarantees.retries.orders import Act

MODULE = "tests.guarantees.retries.worker"
MAY = {MAY_DIE: "yes"}
CLOSE = timedelta(milliseconds=50)
"""The server reads its clock twice: for the end of an attempt, and for the next one's schedule."""


async def test_g4_a_read_is_tried_three_times_as_one_execution_under_one_key(
    desk: Client, task_queue: str, ledger: Ledger
) -> None:
    """The trail names each attempt and what ended the one before; the last event counts them."""
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, errand("desk.read", "r", "raise", "hang", "return"))
        (envelope,) = await handle.result()

    assert isinstance(envelope, Completed)
    assert (envelope.attempts, envelope.errors) == (3, ("EXECUTION_FAILED", "TIMEOUT"))
    entries = ledger.entries("r")
    assert [entry.attempt for entry in entries] == [1, 2, 3]
    assert {entry.execution_id for entry in entries} == {envelope.execution_id}
    assert {entry.key for entry in entries} == {envelope.idempotency_key}
    trail = ledger.audit(envelope.execution_id)
    assert [
        (event.type, event.attempt, event.previous_error, event.attempts) for event in trail
    ] == [
        ("capability.requested", 1, None, None),
        ("capability.started", 1, None, None),
        ("capability.retried", 2, "EXECUTION_FAILED", None),
        ("capability.started", 2, None, None),
        ("capability.retried", 3, "TIMEOUT", None),
        ("capability.started", 3, None, None),
        ("capability.completed", 3, None, 3),
    ]


async def test_g4_a_read_that_fails_each_time_ends_with_its_last_attempt(
    desk: Client, task_queue: str, ledger: Ledger
) -> None:
    """Three attempts and no fourth; one terminal event, which says how many there were."""
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, errand("desk.read", "r", "raise"))
        (envelope,) = await handle.result()

    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.attempts) == ("EXECUTION_FAILED", 3)
    assert envelope.errors == ("EXECUTION_FAILED", "EXECUTION_FAILED")
    assert len(ledger.entries("r")) == 3
    last = ledger.audit(envelope.execution_id)[-1]
    assert (last.type, last.attempts) == ("capability.failed", 3)


async def test_g4_the_delay_between_attempts_grows_from_250_milliseconds(
    desk: Client, task_queue: str, ledger: Ledger
) -> None:
    """By the schedule that the server recorded, and by the policy in history."""
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, errand("desk.read", "r", "raise"))
        await handle.result()
    policy = (await scheduled(desk, handle.id))["desk.read"].retry_policy

    waited = [entry.waited for entry in ledger.entries("r")]
    assert waited[0] is None
    assert waited[1:] == [
        pytest.approx(timedelta(milliseconds=250), abs=CLOSE),
        pytest.approx(timedelta(milliseconds=500), abs=CLOSE),
    ]
    assert policy.initial_interval.ToTimedelta() == timedelta(milliseconds=250)
    assert policy.backoff_coefficient == 2
    assert policy.maximum_interval.ToTimedelta() == timedelta(seconds=30)
    assert policy.maximum_attempts == 3


async def test_g4_a_delay_that_the_handler_asks_for_takes_the_place_of_the_backoff(
    desk: Client, task_queue: str, ledger: Ledger
) -> None:
    """`retry_after` of a declared error goes to the server as the delay before the next attempt."""
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, errand("desk.read", "r", "busy", "return"))
        (envelope,) = await handle.result()

    assert (envelope.status, envelope.attempts) == ("completed", 2)
    assert ledger.entries("r")[1].waited == pytest.approx(BUSY_FOR, abs=CLOSE)


ALLOWED: tuple[tuple[str, Act, ErrorCode, int], ...] = (
    ("desk.picky_read", "raise", "EXECUTION_FAILED", 1),
    ("desk.picky_read", "hang", "TIMEOUT", 3),
    ("desk.picky_read", "busy", "EXECUTION_FAILED", 3),
    ("desk.wary_read", "raise", "EXECUTION_FAILED", 3),
    ("desk.wary_read", "hang", "TIMEOUT", 1),
    ("desk.read", "refuse", "EXECUTION_FAILED", 1),
    ("desk.read_once", "raise", "EXECUTION_FAILED", 1),
)


async def test_g2_a_read_is_tried_again_only_after_what_its_metadata_allows(
    desk: Client, task_queue: str, ledger: Ledger
) -> None:
    """Exception types choose among undeclared exceptions; a predicate vetoes; a refusal is final.

    A declared error that says it may be retried is taken at its word.
    """
    errands = [errand(name, f"{name}-{act}", act) for name, act, _, _ in ALLOWED]
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, *errands)
        envelopes = await handle.result()

    for envelope, (name, act, code, attempts) in zip(envelopes, ALLOWED, strict=True):
        assert isinstance(envelope, Failed)
        assert (envelope.code, envelope.attempts) == (code, attempts), f"{name} after {act}"
        assert envelope.errors == (code,) * (attempts - 1)
        assert len(ledger.entries(f"{name}-{act}")) == attempts


class NoPaper:
    """A sink that cannot record that a handler is about to be entered."""

    def record(self, event: Event) -> None:
        if event.type == "capability.started":
            raise OSError("no paper")


async def test_g4_attempts_that_never_entered_their_handler_say_so_to_the_next_one(
    embedded: EmbeddedServer, task_queue: str, ledger: Ledger
) -> None:
    """In strict audit nothing runs unrecorded; after three attempts the effect is still `none`."""
    app = replace(app_in(ledger.folder), sinks=[NoPaper()], strict_audit=True)
    client = await embedded.connect(plugins=[TemperancePlugin(app)])
    async with worker(client, task_queue):
        handle = await start(client, task_queue, errand("desk.charge", "c", "return"))
        (envelope,) = await handle.result()

    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.attempts) == ("AUDIT_UNAVAILABLE", 3)
    assert envelope.errors == ("AUDIT_UNAVAILABLE", "AUDIT_UNAVAILABLE")
    assert (envelope.effect, ledger.entries("c")) == ("none", [])


async def test_g4_attempts_whose_workers_were_killed_are_named_in_the_record(
    desk: Client,
    embedded: EmbeddedServer,
    task_queue: str,
    ledger: Ledger,
    worker_process: StartWorker,
) -> None:
    """They could tell nothing themselves; the attempt after each asks the server, and tells on."""
    arguments = (embedded.target_host, f"{task_queue}-there", str(ledger.folder), "activities")
    async with worker(desk, task_queue):
        handle = await start(
            desk,
            task_queue,
            errand("desk.read", "r", "die", "die", "return"),
            activity_queue=f"{task_queue}-there",
        )
        for _ in range(2):
            doomed = await worker_process(MODULE, *arguments, env=MAY)
            assert await doomed.wait() == -signal.SIGKILL
        await worker_process(MODULE, *arguments)
        (envelope,) = await handle.result()

    assert (envelope.status, envelope.attempts) == ("completed", 3)
    assert envelope.errors == ("TIMEOUT", "TIMEOUT")
    assert len({entry.key for entry in ledger.entries("r")}) == 1
    assert len({entry.pid for entry in ledger.entries("r")}) == 3
    trail = ledger.audit(envelope.execution_id)
    previous = [event.previous_error for event in trail if event.type == "capability.retried"]
    assert previous == ["TIMEOUT", "TIMEOUT"]


async def test_g4_an_attempt_that_fails_after_a_killed_one_keeps_the_memory_of_it(
    desk: Client,
    embedded: EmbeddedServer,
    task_queue: str,
    ledger: Ledger,
    worker_process: StartWorker,
) -> None:
    """The envelope of the last attempt names what ended each one before it."""
    arguments = (embedded.target_host, f"{task_queue}-there", str(ledger.folder), "activities")
    async with worker(desk, task_queue):
        handle = await start(
            desk,
            task_queue,
            errand("desk.read", "r", "die", "raise", "hang"),
            activity_queue=f"{task_queue}-there",
        )
        doomed = await worker_process(MODULE, *arguments, env=MAY)
        assert await doomed.wait() == -signal.SIGKILL
        await worker_process(MODULE, *arguments)
        (envelope,) = await handle.result()

    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.attempts) == ("TIMEOUT", 3)
    assert envelope.errors == ("TIMEOUT", "EXECUTION_FAILED")


async def test_g4_a_read_whose_every_worker_was_killed_names_every_attempt(
    desk: Client,
    embedded: EmbeddedServer,
    task_queue: str,
    ledger: Ledger,
    worker_process: StartWorker,
) -> None:
    """Only the workflow sees the end; it has it recorded, once, with the number of attempts."""
    arguments = (embedded.target_host, f"{task_queue}-there", str(ledger.folder), "activities")
    async with worker(desk, task_queue):
        handle = await start(
            desk,
            task_queue,
            errand("desk.read", "r", "die"),
            activity_queue=f"{task_queue}-there",
        )
        for _ in range(3):
            doomed = await worker_process(MODULE, *arguments, env=MAY)
            assert await doomed.wait() == -signal.SIGKILL
        (envelope,) = await handle.result()

    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.effect, envelope.attempts) == ("TIMEOUT", "possible", 3)
    assert envelope.errors == ("TIMEOUT", "TIMEOUT")
    assert len(ledger.entries("r")) == 3
    last = ledger.audit(envelope.execution_id)[-1]
    assert (last.type, last.attempts, last.attempt) == ("capability.failed", 3, 3)
