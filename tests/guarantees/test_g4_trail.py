"""G4: the record of every execution is whole, whatever became of it, on every driver."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from temporalio.client import Client
from temporalio.worker import Worker

from temperance import Actor, ExecutionResult, MemorySink, Runtime
from temperance.embedded import EmbeddedServer
from temperance.plugin import TemperancePlugin
from temperance.runtime.envelope import ApprovalRequired, Cancelled, Failed
from temperance.runtime.event import TERMINAL, Event
from temperance.runtime.sink import Sink
from tests.guarantees.trail.capabilities import SECRET, app_with
from tests.guarantees.trail.outcomes import OUTCOMES, wish
from tests.guarantees.trail.workflows import Asked, Asking

AGENT = Actor(id="ada", attributes={"token": SECRET})


def trail_of(sink: MemorySink, envelope: ExecutionResult[object]) -> list[Event]:
    return [event for event in sink.events if event.execution_id == envelope.execution_id]


def check(name: str, sink: MemorySink, envelope: ExecutionResult[object]) -> None:
    """One whole trail: it begins once, ends once, and says what the envelope says.

    Where a person must approve, the end is still to come.
    """
    outcome = OUTCOMES[name]
    events = trail_of(sink, envelope)
    assert tuple(event.type.removeprefix("capability.") for event in events) == outcome.types, name
    ended = not isinstance(envelope, ApprovalRequired)
    assert [event.type in TERMINAL for event in events] == [False] * (len(events) - 1) + [ended]
    last = events[-1]
    assert (last.error_code, last.effect) == (outcome.code, outcome.effect), name
    assert (envelope.effect, envelope.attempts) == (outcome.effect, last.attempts), name
    if isinstance(envelope, Failed | Cancelled):
        assert envelope.code == outcome.code
    attempts = [event.attempt for event in events]
    assert attempts == sorted(attempts)
    previous = [event.previous_error for event in events if event.type == "capability.retried"]
    assert tuple(previous) == envelope.errors
    for event in events:
        assert (event.actor_id, event.surface) == ("ada", "agent")
        assert SECRET not in event.model_dump_json()
        assert event.event_id.startswith(f"{event.execution_id}:{event.attempt}:")


@asynccontextmanager
async def served(
    server: EmbeddedServer, queue: str, *sinks: Sink, strict_audit: bool = False
) -> AsyncGenerator[Client]:
    app = app_with(sinks, strict_audit=strict_audit)
    client = await server.connect(plugins=[TemperancePlugin(app)])
    async with Worker(client, task_queue=queue, workflows=[Asking]):
        yield client


async def ask(client: Client, queue: str, *names: str) -> list[ExecutionResult[object]]:
    requests = [
        Asked(capability=OUTCOMES[name].capability, text=OUTCOMES[name].text) for name in names
    ]
    return await client.execute_workflow(Asking.run, requests, id=queue, task_queue=queue)


async def test_g4_every_outcome_leaves_one_whole_trail(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """On the server, with all of them asked for by one workflow."""
    sink = MemorySink()
    async with served(embedded, task_queue, sink) as client:
        envelopes = await ask(client, task_queue, *OUTCOMES)
    for name, envelope in zip(OUTCOMES, envelopes, strict=True):
        check(name, sink, envelope)
    ids = [event.event_id for event in sink.events]
    assert len(ids) == len(set(ids))
    assert {event.workflow_id for event in sink.events} == {task_queue}
    assert len({event.run_id for event in sink.events}) == 1


async def test_g4_in_process_every_outcome_leaves_the_same_trail() -> None:
    """`Runtime.invoke` runs the same attempt code by the same rules."""
    sink = MemorySink()
    runtime = Runtime(app_with([sink]))
    for name, asked in OUTCOMES.items():
        envelope = await runtime.invoke(asked.capability, asked.text, actor=AGENT, surface="agent")
        check(name, sink, envelope)


class Failing:
    """A sink that fails, in one of several ways."""

    def __init__(self, how: str) -> None:
        self.how = how

    async def record(self, event: Event) -> None:
        if self.how == "hang":
            await asyncio.Event().wait()
        if self.how == "raise":
            raise ConnectionError(SECRET)
        if self.how == "cancel itself":
            raise asyncio.CancelledError
        if self.how == "exit":
            raise SystemExit(1)
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("how", ["hang", "raise", "cancel itself", "exit", "be slow"])
async def test_g4_no_sink_changes_an_outcome_or_keeps_another_from_recording(
    embedded: EmbeddedServer, task_queue: str, how: str
) -> None:
    """Success, failure and refusal, with one faulty sink beside a good one."""
    sink = MemorySink()
    names = ("completed", "failed", "denied") if how != "hang" else ("completed",)
    async with served(embedded, task_queue, Failing(how), sink) as client:
        envelopes = await ask(client, task_queue, *names)
    for name, envelope in zip(names, envelopes, strict=True):
        check(name, sink, envelope)


async def test_g4_in_strict_audit_no_handler_is_entered_that_was_not_recorded(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """AUDIT_UNAVAILABLE, effect none; a read tries three times, a write once."""
    sink = MemorySink()
    async with served(embedded, task_queue, Failing("raise"), sink, strict_audit=True) as client:
        write, read = await ask(client, task_queue, "completed", "completed at last")
    for envelope, attempts in ((write, 1), (read, 3)):
        assert isinstance(envelope, Failed)
        assert (envelope.code, envelope.effect) == ("AUDIT_UNAVAILABLE", "none")
        assert envelope.attempts == attempts
        assert trail_of(sink, envelope)[-1].error_code == "AUDIT_UNAVAILABLE"


async def test_g4_a_read_whose_workflow_has_no_time_left_for_another_attempt_ends_in_the_record(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """The attempt left the last word to the next one, which the server will not start."""
    sink = MemorySink()
    async with served(embedded, task_queue, sink) as client:
        handle = await client.start_workflow(
            Asking.run,
            [Asked(capability="trail.patient_read", text=wish("raise"))],
            id=task_queue,
            task_queue=task_queue,
            run_timeout=timedelta(minutes=10),
        )
        (envelope,) = await handle.result()
    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.effect, envelope.attempts) == (
        "EXECUTION_FAILED",
        "possible",
        1,
    )
    types = [event.type.removeprefix("capability.") for event in trail_of(sink, envelope)]
    assert types == ["requested", "started", "failed"]
