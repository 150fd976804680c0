"""What ends say of a write that was tried again by an operator's hand (G1, G2, G11)."""

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.api.enums.v1 import TimeoutType as ServerTimeoutType
from temporalio.api.history.v1 import ActivityTaskScheduledEventAttributes, HistoryEvent
from temporalio.client import Client
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    RetryState,
    TimeoutType,
)
from temporalio.exceptions import TimeoutError as ServerTimeoutError
from temporalio.testing import ActivityEnvironment

from temperance import capability
from temperance.activities.earlier_runs import Recorded
from temperance.activities.recorded import RecordReader
from temperance.runtime.series import Series
from temperance.workflows.reading import Asked
from temperance.workflows.reading_failure import read_failure


@capability("shop.pay", description="Pay.", expose={"direct"}, side_effect="write", risk="low")
async def pay(amount: int) -> None:
    del amount


def asked() -> Asked:
    return Asked(pay, "e", None, decode=True)


def ended(cause: BaseException, started: int) -> ActivityError:
    error = ActivityError(
        "ended",
        scheduled_event_id=5,
        started_event_id=started,
        identity="",
        activity_type="shop.pay",
        activity_id="a",
        retry_state=RetryState.TIMEOUT,
    )
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(("told", "effect"), [(False, "none"), (True, "possible")])
def test_g1_a_write_that_timed_out_in_the_queue_has_no_effect_unless_it_beat_before(
    told: bool, effect: str
) -> None:
    """An operator may raise the limit of a running write; its heartbeats stay."""
    details = [{"effect": "possible", "entered": True}] if told else []
    cause = ServerTimeoutError(
        "late", type=TimeoutType.SCHEDULE_TO_START, last_heartbeat_details=details
    )

    answer = read_failure(asked(), ended(cause, started=0))

    assert answer.envelope.effect == effect


@pytest.mark.parametrize(("started", "effect"), [(0, "none"), (6, "possible")])
def test_g1_a_write_that_the_sdk_reports_as_cancelled_may_have_had_its_effect_once_it_started(
    started: int, effect: str
) -> None:
    """What runs after the handler, such as a codec, may be what was cancelled."""
    answer = read_failure(asked(), ended(CancelledError("cancelled"), started))

    assert (answer.envelope.status, answer.envelope.effect) == ("cancelled", effect)


@pytest.mark.parametrize(
    ("trace", "outcome"), [(None, "not begun"), ("heartbeat", "begun"), ("cause", "begun")]
)
async def test_g11_a_write_that_timed_out_in_the_queue_had_begun_if_an_attempt_left_a_trace(
    trace: str | None, outcome: str
) -> None:
    """History keeps the retry policy that was scheduled, not what an operator made of it."""
    client = await Client.connect("localhost:1", lazy=True)
    reader = RecordReader(client, ActivityEnvironment.default_info())
    closed = HistoryEvent(event_type=EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT)
    failure = closed.activity_task_timed_out_event_attributes.failure
    failure.timeout_failure_info.timeout_type = ServerTimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START
    if trace == "heartbeat":
        failure.timeout_failure_info.last_heartbeat_details.payloads.add()
    elif trace == "cause":
        failure.cause.message = "an attempt before"
    record = Recorded("run", ActivityTaskScheduledEventAttributes(), closed)
    record.scheduled.retry_policy.maximum_attempts = 1

    assert await reader.outcome(record) == outcome


AGAIN = Asked(pay, "e", None, decode=True, series=Series("pay", 2, 3, ("A", "B", "TIMEOUT")))


@pytest.mark.parametrize(
    "cause",
    [
        ServerTimeoutError("late", type=TimeoutType.START_TO_CLOSE, last_heartbeat_details=[]),
        ServerTimeoutError("late", type=TimeoutType.SCHEDULE_TO_START, last_heartbeat_details=[]),
        ApplicationError("is not registered on this worker", type="NotFoundError"),
        ApplicationError("a codec failed", type="CodecError"),
    ],
    ids=["lost", "not taken", "not served", "foreign"],
)
def test_g4_an_end_that_no_worker_told_counts_the_series_before(cause: BaseException) -> None:
    """Otherwise its record would have the id of an earlier end, and be dropped."""
    answer = read_failure(AGAIN, ended(cause, started=6))

    assert answer.envelope.attempts == 4
    assert answer.envelope.errors == ("A", "B", "TIMEOUT")


def test_g4_what_a_worker_told_of_a_series_is_not_counted_twice() -> None:
    """An attempt of it knows of the series before."""
    details = {"effect": "possible", "stage": "handler", "attempts": 4, "errors": ["A", "B", "C"]}
    cause = ApplicationError("failed", details, type="EXECUTION_FAILED", non_retryable=True)

    answer = read_failure(AGAIN, ended(cause, started=6))

    assert (answer.envelope.attempts, answer.envelope.errors) == (4, ("A", "B", "C"))
