"""What was approved is what runs, or nothing runs (G3)."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec

from temperance import (
    App,
    Completed,
    Decision,
    ExecutionResult,
    Failed,
    MemorySink,
    Policy,
    Request,
    deny,
    require_approval,
)
from temperance.embedded import EmbeddedServer
from temperance.runtime.policy import Phase
from tests.guarantees.approvals.builds import BUILDS
from tests.guarantees.approvals.capabilities import app_of
from tests.guarantees.approvals.office import ADA, BOB, Office, ask
from tests.guarantees.runs.books import Books


async def decided_under(
    server: EmbeddedServer, office: Office, later: App, label: str = "w"
) -> ExecutionResult[object]:
    """The outcome of a request that one build of the application took, and a later one executes."""
    async with office.worker():
        approval = await office.request("transfer", label)
        await office.waiting(approval)
    after = await Office.opened(server, later, office.queue, office.books, office.events)
    async with after.worker():
        await after.approvals.approve(approval, approver=BOB)
        return await after.approvals.outcome(approval)


@pytest.mark.parametrize(
    ("build", "code", "event"),
    [
        ("a field with a default", "APPROVAL_INPUT_MISMATCH", "failed"),
        ("a required field", "INPUT_INVALID", "failed"),
        ("gone", "CAPABILITY_NOT_FOUND", "denied"),
    ],
)
async def test_g3_an_input_that_a_later_build_reads_otherwise_is_not_run(
    embedded: EmbeddedServer, office: Office, build: str, code: str, event: str
) -> None:
    """The schema that counts is that of the execution; the approval is of another value."""
    later = app_of(office.books, [office.events], capabilities=BUILDS[build])
    outcome = await decided_under(embedded, office, later)

    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.effect) == (code, "none")
    trail = office.trail(outcome.execution_id)
    assert trail[:3] == ["requested", "approval_requested", "approved"]
    assert trail[-1] == event
    assert "started" not in trail
    assert office.books.entries() == []


async def test_g3_an_input_that_a_later_build_reads_alike_is_run(
    embedded: EmbeddedServer, office: Office
) -> None:
    """A schema that only says it otherwise has the same values."""
    later = app_of(office.books, [office.events], capabilities=BUILDS["another title"])
    outcome = await decided_under(embedded, office, later)
    assert isinstance(outcome, Completed)
    assert len(office.books.entries("w")) == 1


# Requests of any capability.
def closed(request: Request[Any, Any]) -> Decision:
    return deny("CLOSED", "Not any more.")


def finance(request: Request[Any, Any]) -> Decision:
    return require_approval("Too much by now.", type="finance")


def same(request: Request[Any, Any]) -> Decision:
    return require_approval("As before.", type="manager")


@pytest.mark.parametrize("phase", ["invocation", "execution"])
@pytest.mark.parametrize(
    ("rule", "code", "event"),
    [(closed, "POLICY_DENIED", "denied"), (finance, "APPROVAL_REQUIRED", "failed")],
)
async def test_g3_rules_that_were_tightened_after_the_request_refuse_what_was_approved(  # noqa: PLR0917 - fixtures and a table
    embedded: EmbeddedServer, office: Office, phase: Phase, rule: Any, code: str, event: str
) -> None:
    """A denial, and a demand for another approver: asked again right before the execution."""
    later = app_of(office.books, [office.events], policies=[Policy(rule, phase)])
    outcome = await decided_under(embedded, office, later)

    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.effect) == (code, "none")
    assert office.trail(outcome.execution_id)[-1] == event
    assert office.books.entries() == []


async def test_g3_rules_that_demand_no_more_than_was_approved_let_it_run(
    embedded: EmbeddedServer, office: Office
) -> None:
    """The same approver type once more is covered."""
    later = app_of(office.books, policies=[Policy(same), Policy(same, "execution")])
    assert isinstance(await decided_under(embedded, office, later), Completed)


async def test_g3_an_approver_whom_the_executing_application_does_not_accept_is_refused(
    embedded: EmbeddedServer, office: Office, books: Books
) -> None:
    """The requester approved where that is allowed; the worker that executes does not allow it.

    It serves the queue that the workflow asked for, which the approval passes on.
    """
    lenient = app_of(books, self_approval="There is one person here.")
    asking = await Office.opened(embedded, lenient, office.queue, books, office.events)
    there = f"{office.queue}-there"
    async with AsyncExitStack() as workers:
        await workers.enter_async_context(asking.worker())
        await workers.enter_async_context(office.worker(queue=there))
        handle = await asking.start(ask("transfer", "w", step="w", queue=there))
        approval = asking.asked_by(handle, "w")
        await asking.until_asked(approval)
        await asking.approvals.approve(approval, approver=ADA)
        (envelope,) = await handle.result()

    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.effect) == ("APPROVAL_SELF_APPROVAL", "none")
    assert books.entries() == []


class Tampering(PayloadCodec):
    """A codec double that changes an amount in what was stored, once it is told to."""

    def __init__(self, before: bytes) -> None:
        self.before = before
        self.active = False

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [*payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [self._changed(payload) for payload in payloads]

    def _changed(self, payload: Payload) -> Payload:
        after = self.before.replace(b"100", b"999")
        if not self.active or self.before not in payload.data:
            return payload
        data = payload.data.replace(self.before, after)
        return Payload(metadata=payload.metadata, data=data)


@pytest.mark.parametrize(
    "place",
    [b'{\\"label\\":\\"w\\",\\"cents\\":100,', b'{"label":"w","cents":100,"card"'],
    ids=["approval", "execution"],
)
async def test_g3_an_input_that_was_altered_where_it_is_stored_is_not_run(
    embedded: EmbeddedServer, office: Office, place: bytes
) -> None:
    """In what the approval was started with, or in what its execution is given."""
    codec = Tampering(place)
    here = await Office.opened(
        embedded, office.app, office.queue, office.books, office.events, codec=codec
    )
    async with here.worker(cached=0):
        approval = await here.request("transfer", "w")
        await here.waiting(approval)
        codec.active = True
        await here.approvals.approve(approval, approver=BOB)
        outcome = await here.approvals.outcome(approval)

    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.effect) == ("APPROVAL_INPUT_MISMATCH", "none")
    assert here.trail(outcome.execution_id)[-1] == "failed"
    assert office.books.entries() == []


async def test_g3_a_codec_that_gives_back_what_was_stored_changes_nothing(
    embedded: EmbeddedServer, office: Office
) -> None:
    """The double itself is not what is refused."""
    sound = Tampering(b'"cents":100')
    here = await Office.opened(
        embedded, office.app, office.queue, office.books, MemorySink(), codec=sound
    )
    async with here.worker(cached=0):
        approval = await here.request("transfer", "w")
        await here.approvals.approve(approval, approver=BOB)
        assert isinstance(await here.approvals.outcome(approval), Completed)
