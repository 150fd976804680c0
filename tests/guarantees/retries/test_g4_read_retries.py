"""Attempts of one execution are told apart, and their schedule is the declared one (G4)."""

import signal
from datetime import timedelta

import pytest
from temporalio.client import Client

from temperance import Completed, Failed
from temperance.embedded import EmbeddedServer
from tests.conftest import StartWorker
from tests.guarantees.retries.asking import errand, scheduled, start, worker
from tests.guarantees.retries.capabilities import BUSY_FOR, MAY_DIE, SOON
from tests.guarantees.retries.ledger import Ledger
from tests.guarantees.retries.orders import Act

MODULE = "tests.guarantees.retries.worker"
MAY = {MAY_DIE: "yes"}
CLOSE = timedelta(milliseconds=50)
"""The server reads its clock once for the end of an attempt and once for the next one's schedule."""


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
    assert [(event.type, event.attempt, event.previous_error, event.attempts) for event in trail] == [
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
    print(waited)
    assert waited[0] is None
    assert waited[1:] == [
        pytest.approx(timedelta(milliseconds=250), abs=CLOSE),
        pytest.approx(timedelta(milliseconds=500), abs=CLOSE),
    ]
    assert policy.initial_interval.ToTimedelta() == timedelta(milliseconds=250)
    assert policy.backoff_coefficient == 2
    assert policy.maximum_interval.ToTimedelta() == timedelta(seconds=30)
    assert policy.maximum_attempts == 3
