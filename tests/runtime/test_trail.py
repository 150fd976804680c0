"""The trail of an execution: what it says of it, and what it never says (G4)."""

from temperance.runtime.actor import Actor
from temperance.runtime.attempt import record_end
from temperance.runtime.call import Call
from temperance.runtime.decision import hide
from temperance.runtime.error import CapabilityError
from temperance.runtime.event import EVENT_VERSION, Event
from temperance.runtime.request import WorkflowRef
from temperance.runtime.runtime import Runtime
from tests.runtime.attempts import (
    RETRIED,
    Recorder,
    Slip,
    app_of,
    attempt,
    broken,
    giving,
    never,
    succeeds,
)
from tests.runtime.orders import ALICE, Order


async def test_every_event_says_whose_execution_it_is_and_what_of() -> None:
    """Ids, actor, surface, metadata, place on Temporal; effect and duration at the end only."""
    sink = Recorder()
    place = WorkflowRef("w-1", "run-1", "step-1")
    await attempt(
        app_of(succeeds, sinks=[sink], risk="high"),
        workflow=place,
        repeat_of="e-0",
        correlation_id="c-1",
    )

    requested, started, completed = sink.events
    for event in sink.events:
        assert (event.v, event.execution_id, event.attempt) == (EVENT_VERSION, "e-1", 1)
        assert (event.capability, event.surface) == ("orders.refund", "agent")
        assert (event.actor_id, event.actor_kind) == ("alice", "user")
        assert (event.workflow_id, event.run_id, event.activity_id) == ("w-1", "run-1", "step-1")
        assert (event.repeat_of, event.correlation_id) == ("e-0", "c-1")
        assert event.at.tzinfo is not None
    assert requested.at <= started.at <= completed.at
    assert requested.input_hash is None
    assert started.input_hash == completed.input_hash
    assert (started.side_effect, started.risk) == ("write", "high")
    assert (started.effect, started.duration_ms) == (None, None)
    assert (completed.effect, completed.attempts) == ("done", 1)
    assert completed.duration_ms is not None


async def test_event_ids_are_derived_unique_and_the_same_again() -> None:
    """A sink can drop what it has: execution, attempt and type make the id."""
    first, second = Recorder(), Recorder()
    for sink in (first, second):
        app = app_of(succeeds, sinks=[sink], **RETRIED)
        await attempt(app)
        await attempt(app, attempt=2, earlier_errors=("TIMEOUT",))
        await attempt(app, execution_id="e-2")
    ids = [event.event_id for event in first.events]
    assert ids[0] == "e-1:1:capability.requested"
    assert len(set(ids)) == len(ids) == 9
    assert ids == [event.event_id for event in second.events]


async def test_g4_a_run_that_follows_another_has_event_ids_of_its_own() -> None:
    """After a reset the same execution is requested again: that is another event."""
    sink = Recorder()
    app = app_of(succeeds, sinks=[sink])
    for run in ("run-1", "run-2"):
        await attempt(app, workflow=WorkflowRef("w", run, "s"), rerun=run == "run-2")
    assert len({event.event_id for event in sink.events}) == 6


async def test_g4_a_retried_attempt_names_the_code_that_ended_the_one_before() -> None:
    sink = Recorder()
    app = app_of(succeeds, sinks=[sink], **RETRIED)
    await attempt(app, attempt=3, earlier_errors=("TIMEOUT", "WorkerShutdown"))
    assert sink.types() == ["capability.retried", "capability.started", "capability.completed"]
    assert (sink.events[0].previous_error, sink.events[0].attempt) == ("WorkerShutdown", 3)
    assert sink.last.attempts == 3
    sink.clear()
    await attempt(app, attempt=2)
    assert sink.events[0].previous_error == "UNKNOWN"


async def test_g10_no_event_carries_a_payload() -> None:
    """Neither input nor output nor an actor's attributes nor the text of an exception."""
    sink = Recorder()

    async def echoes(order: Order) -> Slip:
        if order.amount > 1:
            raise ValueError(f"secret-cause {order.order_id}")
        return Slip(number=f"secret-output-{order.order_id}")

    actor = Actor(id="alice", attributes={"token": "secret-token"})
    app = app_of(echoes, sinks=[sink])
    for raw in (
        {"order_id": "secret-input"},
        {"order_id": "secret-input", "amount": 2},
        {"order_id": ["secret-input"], "secret-field": 1},
        b'{"order_id": "secret-input"',
    ):
        await attempt(app, raw=raw, actor=actor)
    assert len(sink.events) == len({event.event_id for event in sink.events})
    for event in sink.events:
        assert "secret" not in event.model_dump_json()


async def test_g9_the_trail_knows_the_true_reason_of_what_the_caller_is_not_told() -> None:
    sink = Recorder()
    await broken(app_of(never, sinks=[sink], policies=[giving(hide())]))
    assert (sink.last.error_code, sink.last.reason) == ("CAPABILITY_NOT_FOUND", "hidden:rule")


async def test_an_outcome_that_no_attempt_saw_is_recorded_as_if_one_had() -> None:
    """By the driver: with the request where that is missing, and the same ids."""
    sink = Recorder()
    app = app_of(never, sinks=[sink])
    call = Call("orders.refund", None, ALICE, "agent", "e-1")
    error = CapabilityError("TIMEOUT", stage="transport")
    await record_end(app, call, error, "none", cancelled=False, requested=True)
    assert sink.types() == ["capability.requested", "capability.failed"]
    assert (sink.last.stage, sink.last.effect, sink.last.risk) == ("transport", "none", "low")


async def test_a_listing_is_recorded_by_how_much_it_was() -> None:
    """`capabilities.discovered`: constant in size, whatever there is to list."""
    sink = Recorder()
    shown = Runtime(app_of(succeeds, sinks=[sink]))
    hidden = Runtime(app_of(succeeds, sinks=[sink], policies=[giving(hide(), "discovery")]))
    for runtime in (shown, hidden):
        await runtime.describe(actor=ALICE, surface="agent")
    first, second = sink.events
    assert (first.type, first.listed, first.withheld) == ("capabilities.discovered", 1, 0)
    assert (second.listed, second.withheld, second.actor_id) == (0, 1, "alice")
    assert (first.surface, first.capability) == ("agent", None)
    assert first.event_id == f"{first.execution_id}:1:capabilities.discovered"
    assert first.execution_id != second.execution_id


async def test_a_listing_is_given_also_where_it_cannot_be_recorded() -> None:
    sink = Recorder()

    class Broken:
        def record(self, event: Event) -> None:
            raise ConnectionError

    runtime = Runtime(app_of(succeeds, sinks=[Broken(), sink]))
    assert (await runtime.describe(actor=ALICE, surface="agent")).listed == 1
    assert sink.types() == ["capabilities.discovered"]
