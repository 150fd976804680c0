"""A request that nobody serves, or that a person must approve first, enters no handler (G8)."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker

from temperance import MemorySink, Runtime
from temperance.embedded import EmbeddedServer
from temperance.runtime.canonical import hash_bytes
from tests.guarantees.boundary.answers import answer_of
from tests.guarantees.boundary.desk import Note, desk, signed
from tests.guarantees.boundary.ledger import Ledger
from tests.guarantees.boundary.serving import served
from tests.guarantees.boundary.workflows import ADA, Asking, AskingElsewhere, Question
from tests.support.history import event_names, history_events

GOOD = '{"author": "ada", "pages": 1}'


@activity.defn(name="desk.something")
async def something() -> None:
    """Of another application."""


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger")


async def test_g8_a_worker_without_the_capability_is_said_to_be_one_and_has_no_effect(
    embedded: EmbeddedServer, client: Client, task_queue: str, ledger: Ledger
) -> None:
    """Effect none and a message that says why; recorded, and the workflow goes on."""
    sink = MemorySink()
    elsewhere = f"{task_queue}-elsewhere"
    question = Question(capability="desk.keep", text=GOOD)
    async with (
        Worker(client, task_queue=elsewhere, activities=[something]),
        served(embedded, desk(ledger, sink), task_queue, AskingElsewhere) as desk_client,
    ):
        unserved, good = await desk_client.execute_workflow(
            AskingElsewhere.run, args=[elsewhere, question], id=task_queue, task_queue=task_queue
        )
        names = event_names(await history_events(client, task_queue))

    assert (unserved["status"], unserved["effect"]) == ("failed", "none")
    assert unserved["error"]["code"] == "INTERNAL_ERROR"
    assert unserved["error"]["message"] == (
        "No worker of this task queue has the capability; nothing was run."
    )
    assert good["status"] == "completed"
    assert ledger.lines() == ["ada"]
    assert sink.types(unserved["execution_id"]) == ["capability.requested", "capability.failed"]
    assert "WORKFLOW_TASK_FAILED" not in names


async def test_g8_what_a_person_must_approve_is_said_and_not_run(
    embedded: EmbeddedServer, task_queue: str, ledger: Ledger
) -> None:
    """From a workflow and in process: reasons, types, expiry, the input's hash, no effect."""
    sink = MemorySink()
    app = desk(ledger, sink)
    before = datetime.now(UTC)
    async with served(embedded, app, task_queue, Asking) as client:
        (in_workflow,) = await client.execute_workflow(
            Asking.run,
            [Question(capability="desk.signed", text=GOOD)],
            id=task_queue,
            task_queue=task_queue,
        )
    envelope = await Runtime(app).invoke("desk.signed", GOOD, actor=ADA, surface="agent")

    for answer in (in_workflow, answer_of(envelope)):
        assert (answer["status"], answer["effect"]) == ("approval_required", "none")
        assert answer["reasons"] == ["Notes are for ever."]
        assert answer["types"] == ["manager"]
        expiry = datetime.fromisoformat(answer["expires_at"]) - before
        assert timedelta(minutes=59) < expiry < timedelta(minutes=61)
        note = Note(author="ada", pages=1)
        assert answer["input_hash"] == hash_bytes(signed.input_schema.canonical(note))
        assert sink.types(answer["execution_id"]) == [
            "capability.requested",
            "capability.approval_requested",
        ]
    assert ledger.lines() == []
