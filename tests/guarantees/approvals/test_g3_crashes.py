"""Workers and servers that are killed: the approval survives, and executes once at most (G3)."""

import asyncio
from datetime import timedelta

import pytest

from temperance import Completed, Event, Failed
from temperance.embedded import EmbeddedServer
from temperance.runtime.approval import ApprovalRecord
from tests.conftest import ServerOnFile, StartWorker
from tests.guarantees.approvals.capabilities import app_of
from tests.guarantees.approvals.office import BOB, Office, ask
from tests.guarantees.runs.books import Books
from tests.support.processes import WorkerProcess
from tests.support.waiting import wait_until

MODULE = "tests.guarantees.approvals.worker"
SECOND = timedelta(seconds=1)


class Crew:
    """Starts workers of an office in processes of their own."""

    def __init__(self, start: StartWorker, server: EmbeddedServer, office: Office) -> None:
        self._start = start
        self._arguments = (server.target_host, office.queue, str(office.books.folder))

    async def worker(self, when: str = "never") -> WorkerProcess:
        """One worker, which kills itself when it is told to."""
        return await self._start(MODULE, *self._arguments, when)


@pytest.fixture
def crew(worker_process: StartWorker, embedded: EmbeddedServer, office: Office) -> Crew:
    """The workers of this test, on the session's server."""
    return Crew(worker_process, embedded, office)


async def approve(office: Office, approval: str) -> ApprovalRecord:
    """Bob approves, and waits until a worker has taken it."""
    return await office.approvals.approve(approval, approver=BOB)


async def test_g3_an_approval_outlives_the_worker_that_asked(office: Office, crew: Crew) -> None:
    """Killed while it is pending; the next worker takes the decision and executes it."""
    first = await crew.worker()
    handle = await office.start(ask("transfer", "w", step="w"))
    approval = office.asked_by(handle, "w")
    await office.until_asked(approval)
    first.kill()
    await first.wait()
    async with office.worker():
        await approve(office, approval)
        (envelope,) = await handle.result()

    assert isinstance(envelope, Completed)
    assert len(office.books.entries("w")) == 1


async def test_g3_a_decision_that_kills_its_worker_is_judged_by_the_next(
    office: Office, crew: Crew
) -> None:
    """The decider waits meanwhile, and is told: one decision, one execution."""
    approval = await office.begin("transfer", "w", task_timeout=SECOND)
    first = await crew.worker("decision")
    deciding = asyncio.ensure_future(approve(office, approval))
    await first.wait()
    async with office.worker():
        record = await deciding
        outcome = await office.approvals.outcome(approval)

    assert record.state == "approved"
    assert isinstance(outcome, Completed)
    assert len(office.books.entries("w")) == 1


@pytest.mark.slow
async def test_g3_a_decision_whose_record_kills_its_worker_still_counts(
    office: Office, crew: Crew
) -> None:
    """It was accepted before: the next worker records it and executes."""
    approval = await office.begin("transfer", "w", task_timeout=SECOND)
    first = await crew.worker("record")
    record = await approve(office, approval)
    await first.wait()
    async with office.worker():
        outcome = await office.approvals.outcome(approval)

    assert record.state == "approved"
    assert isinstance(outcome, Completed)
    assert len(office.books.entries("w")) == 1
    assert office.events.types(outcome.execution_id)[0] == "capability.approved"


async def test_g3_an_approved_write_whose_worker_is_killed_is_not_run_again(
    office: Office, crew: Crew
) -> None:
    """The server notices, the approval ends with what is known, and so does who asked."""
    first = await crew.worker()
    handle = await office.start(ask("quick", "w", "wait", step="w"))
    approval = office.asked_by(handle, "w")
    await office.until_asked(approval)
    await approve(office, approval)
    await office.until_entered("w")
    first.kill()
    async with office.worker():
        (envelope,) = await handle.result()
        office.books.open_gate("w")

    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.effect, envelope.attempts) == ("TIMEOUT", "possible", 1)
    assert envelope.execution_id == approval.removeprefix("approval-")
    (entry,) = office.books.entries("w")
    assert entry.execution_id == envelope.execution_id
    recorded = map(Event.model_validate_json, office.books.audit_path.read_bytes().splitlines())
    assert [event.type.removeprefix("capability.") for event in recorded] == [
        "requested",
        "approval_requested",
        "approved",
        "approval_consumed",
        "started",
    ]
    assert office.trail(envelope.execution_id) == ["failed"]


async def test_g3_an_approved_idempotent_write_whose_worker_is_killed_needs_no_second_approval(
    office: Office, crew: Crew
) -> None:
    """The next attempt is of the same execution: same key, same approval."""
    approval = await office.begin("quick_charge", "w", "wait", task_timeout=SECOND)
    first = await crew.worker()
    await approve(office, approval)
    await office.until_entered("w")
    first.kill()
    async with office.worker():
        await office.until_entered("w", 2)
        office.books.open_gate("w")
        outcome = await office.approvals.outcome(approval)

    assert isinstance(outcome, Completed)
    assert outcome.attempts == 2
    assert {entry.key for entry in office.books.entries("w")} == {outcome.idempotency_key}
    assert [entry.attempt for entry in office.books.entries("w")] == [1, 2]


@pytest.mark.parametrize("killed", ["pending", "executing"])
async def test_g3_an_approval_outlives_the_server(
    server_on_file: ServerOnFile, books: Books, task_queue: str, office: Office, killed: str
) -> None:
    """The server is killed and started again on its file, and nothing is lost or run twice."""
    server = await server_on_file()
    here = await Office.opened(
        server, app_of(books, [office.events]), task_queue, books, office.events
    )
    async with here.worker():
        handle = await here.start(ask("transfer", "w", "wait", step="w"))
        approval = here.asked_by(handle, "w")
        await here.until_asked(approval)
        if killed == "executing":
            await approve(here, approval)
            await here.until_entered("w")
        await server.kill()
        await server.start()
        if killed == "pending":
            await approve(here, approval)
        books.open_gate("w")
        (envelope,) = await handle.result()

        async def again() -> bool:
            return (await approve(here, approval)).state == "approved"

        # The same decision once more: one that is kept is answered as before.
        await wait_until(again)

    assert isinstance(envelope, Completed)
    assert len(books.entries("w")) == 1
    assert here.trail(envelope.execution_id) == [
        "requested",
        "approval_requested",
        "approved",
        "approval_consumed",
        "started",
        "completed",
    ]
