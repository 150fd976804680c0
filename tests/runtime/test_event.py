"""Events are pydantic models, although the library makes them without validating them again."""

import pytest
from pydantic import ValidationError

from temperance.runtime.admission import AnyRequest
from temperance.runtime.decision import Deny, deny
from temperance.runtime.event import Event
from temperance.runtime.request import WorkflowRef
from temperance.runtime.retry import Retry
from temperance.runtime.sink import MemorySink
from tests.runtime.attempts import app_of, attempt, succeeds
from tests.runtime.orders import Order


async def fails(order: Order) -> Order:
    raise RuntimeError(order.order_id)


def too_much(request: AnyRequest) -> Deny:
    del request
    return deny("OVER_LIMIT", "Too much.")


@pytest.fixture
async def events() -> list[Event]:
    """Of attempts that succeed, are denied, are retried, and of what is not there."""
    sink = MemorySink()
    place = WorkflowRef(workflow_id="w", run_id="r", activity_id="s")
    retried = app_of(fails, sinks=[sink], side_effect="read", retry=Retry(max_retries=3))
    await attempt(
        app_of(succeeds, sinks=[sink]), execution_id="1", workflow=place, correlation_id="c"
    )
    await attempt(retried, execution_id="2", attempt=4, earlier_errors=("TIMEOUT",))
    await attempt(app_of(succeeds, sinks=[sink], policies=[too_much]), execution_id="3", rerun=True)
    await attempt(app_of(succeeds, sinks=[sink]), execution_id="4", capability_id="orders.absent")
    return sink.events


async def test_an_event_is_what_validation_would_have_made_of_its_fields(
    events: list[Event],
) -> None:
    assert {event.type for event in events} >= {
        "capability.requested",
        "capability.started",
        "capability.completed",
        "capability.retried",
        "capability.denied",
        "capability.failed",
    }
    for event in events:
        validated = Event.model_validate(dict(event), strict=True)
        assert event == validated
        assert event.model_dump_json() == validated.model_dump_json()
        assert repr(event) == repr(validated)


async def test_an_event_cannot_be_changed_and_a_copy_leaves_it_alone(events: list[Event]) -> None:
    first, second = events[:2]
    with pytest.raises(ValidationError, match="frozen"):
        first.reason = "changed"  # type: ignore[misc] # that this is refused is what is tested
    changed = first.model_copy(update={"reason": "changed"})
    assert (first.reason, changed.reason) == (None, "changed")
    assert second.model_fields_set == set(Event.model_fields)
