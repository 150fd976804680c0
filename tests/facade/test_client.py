"""Single requests without a workflow: sent twice they run once, and what is wrong is an answer."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker

from temperance import (
    Actor,
    ApprovalRequired,
    Completed,
    ExecutionResult,
    Failed,
    MemorySink,
    TemperanceClient,
    TemperancePlugin,
)
from temperance.embedded import EmbeddedServer
from temperance.runtime.canonical import hash_bytes
from temperance.runtime.identity import standalone_execution_id
from temperance.runtime.names import Surface
from tests.facade.plugged.parts import Books, Part, count, melt, order, parts, scrap
from tests.support.waiting import wait_until

ADA = Actor(id="ada", attributes={"role": "buyer"})
BOLT = Part(name="bolt", tags=frozenset({"steel", "small", "m4"}))


class Depot:
    """One test's application, on a queue of its own; its requests need no plugin."""

    def __init__(self, server: EmbeddedServer, plain: Client, queue: str, path: Path) -> None:
        self.server = server
        self.plain = plain
        self.queue = queue
        self.books = Books(path)
        self.sink = MemorySink()
        self.app = parts(self.books, self.sink)
        self.single = self.by(ADA)

    def by(self, actor: Actor, surface: Surface = "direct") -> TemperanceClient:
        """Requests of an actor."""
        return TemperanceClient(
            self.plain, self.app, actor=actor, surface=surface, task_queue=self.queue
        )

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """With a worker of the application."""
        client = await self.server.connect(plugins=[TemperancePlugin(self.app)])
        grace = timedelta(milliseconds=1)
        async with Worker(client, task_queue=self.queue, graceful_shutdown_timeout=grace):
            yield

    async def entered(self) -> list[str]:
        """The effects so far."""
        return self.books.lines()


@pytest.fixture
def depot(embedded: EmbeddedServer, client: Client, task_queue: str, tmp_path: Path) -> Depot:
    return Depot(embedded, client, task_queue, tmp_path / "books")


def mismatch(envelope: ExecutionResult[Any]) -> bool:
    """Whether a request was refused because its id was used for another one."""
    return (
        isinstance(envelope, Failed)
        and envelope.code == "STEP_INPUT_MISMATCH"
        and envelope.effect == "none"
    )


async def test_g5_a_request_sent_twice_at_once_runs_once_and_both_get_the_same_envelope(
    depot: Depot,
) -> None:
    """The second waits for the outcome of the first; the key is that of the one activity."""
    id_ = f"{depot.queue}-id"
    async with depot.open():
        first = asyncio.ensure_future(depot.single.invoke(order, BOLT, request_id=id_))
        await wait_until(depot.entered)
        others = [
            asyncio.ensure_future(depot.single.invoke(order, BOLT, request_id=id_))
            for _ in range(5)
        ]
        await asyncio.wait(others, timeout=0.05)
        assert not any(other.done() for other in others)
        depot.books.gate.set()
        envelope = await first
        assert await asyncio.gather(*others) == [envelope] * 5

    assert isinstance(envelope, Completed)
    assert envelope.output == BOLT
    assert depot.books.lines() == [f"bolt {envelope.idempotency_key}"]
    run = (await depot.plain.get_activity_handle(id_).describe()).activity_run_id
    assert envelope.execution_id == standalone_execution_id("default", id_, run or "")


@pytest.mark.parametrize(
    "again",
    [
        BOLT,
        {"name": "bolt", "tags": ["m4", "small", "steel"]},
        b'{"tags": ["small", "m4", "steel"], "name": "bolt"}',
    ],
    ids=["instance", "mapping", "text"],
)
async def test_g5_a_request_sent_again_after_its_end_gets_the_recorded_envelope(
    again: object, depot: Depot
) -> None:
    """However the same input is written: order of keys and of sets do not make another request."""
    id_ = f"{depot.queue}-id"
    depot.books.gate.set()
    async with depot.open():
        first = await depot.single.invoke(order, BOLT, request_id=id_)
    # Without a worker: nothing but the record can answer.
    assert await depot.single.invoke(order, again, request_id=id_) == first
    assert len(depot.books.lines()) == 1


async def test_g5_a_failed_request_sent_again_gets_the_recorded_failure(depot: Depot) -> None:
    """A write with effect possible is not tried again under its own id."""
    id_ = f"{depot.queue}-id"
    async with depot.open():
        first = await depot.single.invoke(scrap, BOLT, request_id=id_)
        again = await depot.single.invoke(scrap, BOLT, request_id=id_)
    assert isinstance(first, Failed)
    assert (first.code, first.effect, first.attempts) == ("TIMEOUT", "possible", 1)
    assert again == first
    assert len(depot.books.lines()) == 1


async def test_g5_an_invalid_request_sent_again_gets_the_recorded_answer(depot: Depot) -> None:
    """What no schema understands is the same request where it is the same text."""
    id_ = f"{depot.queue}-id"
    async with depot.open():
        first = await depot.single.invoke("parts.order", '{"name": 5', request_id=id_)
        again = await depot.single.invoke("parts.order", '{"name": 5', request_id=id_)
    assert isinstance(first, Failed)
    assert first.code == "INPUT_INVALID"
    assert again == first
    assert depot.sink.types() == ["capability.requested", "capability.failed"]


async def test_a_used_request_id_is_refused_for_anything_else(depot: Depot) -> None:
    """Another input, capability, actor, kind of actor or surface is not the same request."""
    id_ = f"{depot.queue}-id"
    depot.books.gate.set()
    async with depot.open():
        first = await depot.single.invoke(order, BOLT, request_id=id_)
        for refused in (
            await depot.single.invoke(order, Part(name="nut"), request_id=id_),
            await depot.single.invoke(order, Part(name="bolt"), request_id=id_),
            await depot.single.invoke("parts.order", "{", request_id=id_),
            await depot.single.invoke("parts.count", BOLT, request_id=id_),
            await depot.single.invoke("parts.unknown", BOLT, request_id=id_),
            await depot.by(Actor(id="eve")).invoke(order, BOLT, request_id=id_),
            await depot.by(Actor(id="ada", kind="service")).invoke(order, BOLT, request_id=id_),
            await depot.by(ADA, "agent").invoke(order, BOLT, request_id=id_),
        ):
            assert mismatch(refused), refused
            assert "bolt" not in str(refused)
        other_role = Actor(id="ada", attributes={"role": "seller"})
        assert await depot.by(other_role).invoke(order, BOLT, request_id=id_) == first
    assert len(depot.books.lines()) == 1


async def test_requests_without_an_id_are_requests_of_their_own(depot: Depot) -> None:
    """Two ids, two keys, two effects: nothing is deduplicated that nobody named."""
    depot.books.gate.set()
    async with depot.open():
        first = await depot.single.invoke(order, BOLT)
        second = await depot.single.invoke(order, BOLT)
    assert first.execution_id != second.execution_id
    assert len({*depot.books.lines()}) == 2


async def test_a_request_that_no_worker_takes_in_time_has_no_effect_and_is_recorded(
    depot: Depot,
) -> None:
    """`queue_timeout` without a worker: TIMEOUT, effect none, and the audit knows of it."""
    envelope = await depot.single.invoke(order, BOLT)
    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.effect) == ("TIMEOUT", "none")
    assert envelope.error.message == "No worker took the request in time."
    assert depot.sink.types(envelope.execution_id) == ["capability.requested", "capability.failed"]


async def test_g7_a_request_whose_handler_outlasts_its_timeout_ends_with_effect_possible(
    depot: Depot,
) -> None:
    """The attempt's own deadline holds without a workflow, too."""
    async with depot.open():
        envelope = await depot.single.invoke(scrap, BOLT)
    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.effect) == ("TIMEOUT", "possible")
    assert envelope.error.details == {"timeout_seconds": 0.3}
    assert depot.sink.types()[-1] == "capability.failed"


async def test_a_request_that_needs_an_approval_is_told_so_and_nothing_is_run(
    depot: Depot,
) -> None:
    """The envelope has all reasons and types, the least expiry and the hash of the input."""
    id_ = f"{depot.queue}-id"
    before = datetime.now(UTC)
    async with depot.open():
        envelope = await depot.single.invoke(melt, BOLT, request_id=id_)
        again = await depot.single.invoke(melt, BOLT, request_id=id_)
    assert isinstance(envelope, ApprovalRequired)
    assert envelope.reasons == ("It cannot be undone.", "It is hot.")
    assert envelope.types == ("manager", "fireman")
    assert before < envelope.expires_at < before + timedelta(minutes=1)
    assert envelope.input_hash == hash_bytes(melt.input_schema.canonical(BOLT))
    assert envelope.effect == "none"
    assert again == envelope
    assert depot.books.lines() == []
    assert depot.sink.types() == ["capability.requested", "capability.approval_requested"]


async def test_what_the_client_refuses_by_itself_is_recorded_with_the_true_reason(
    depot: Depot,
) -> None:
    """No worker sees it, so the client writes to the sinks that the application names."""
    envelope = await depot.single.invoke("parts.unknown", {}, correlation_id="c-1")
    (requested, denied) = depot.sink.events
    assert (requested.type, denied.type) == ("capability.requested", "capability.denied")
    assert (denied.reason, denied.error_code) == ("unknown", "CAPABILITY_NOT_FOUND")
    assert (denied.actor_id, denied.surface, denied.correlation_id) == ("ada", "direct", "c-1")
    assert denied.execution_id == envelope.execution_id


@pytest.mark.parametrize("id_", ["", " ", "a ", "a" * 201, "a\nb", "a\u200b"])
async def test_a_malformed_request_or_correlation_id_is_the_callers_mistake(
    id_: str, depot: Depot
) -> None:
    """It is raised, and nothing is sent: these ids are the application's, never a model's."""
    with pytest.raises(ValueError, match="request_id"):
        await depot.single.invoke(count, BOLT, request_id=id_)
    with pytest.raises(ValueError, match="correlation_id"):
        await depot.single.invoke(count, BOLT, correlation_id=id_)
    assert depot.sink.events == []


@activity.defn(name="parts.something")
async def something() -> None:
    """Of another application."""


@pytest.mark.parametrize("name", ["parts.order", "parts.count"])
async def test_a_worker_without_the_capability_is_said_to_be_one(
    name: str, client: Client, depot: Depot
) -> None:
    """Effect none after one attempt; after several, an earlier one may have been elsewhere."""
    async with Worker(client, task_queue=depot.queue, activities=[something]):
        envelope = await depot.single.invoke(name, BOLT)
    assert isinstance(envelope, Failed)
    assert envelope.code == "INTERNAL_ERROR"
    assert not envelope.error.retryable
    if name == "parts.order":
        assert envelope.effect == "none"
        assert "has the capability; nothing was run" in envelope.error.message
    else:
        assert envelope.effect == "possible"
        assert "does not have the capability" in envelope.error.message
    assert depot.books.lines() == []
    assert depot.sink.types() == ["capability.requested", "capability.failed"]
