"""The record of approvals: who asked, who decided, through which door, and with what end (G3)."""

import dataclasses
from collections.abc import Awaitable
from datetime import timedelta

import pytest

from temperance import Completed, Event, Failed, MemorySink
from temperance.embedded import EmbeddedServer
from temperance.runtime.approval import DecisionSource
from tests.guarantees.approvals.capabilities import app_of
from tests.guarantees.approvals.office import ADA, BOB, EVE, Office, ask
from tests.guarantees.runs.books import Books

ASKED = ["requested", "approval_requested"]


@pytest.mark.parametrize(
    ("verdict", "types"),
    [
        ("approve", ["approved", "approval_consumed", "started", "completed"]),
        ("reject", ["rejected"]),
        ("cancel", ["approval_cancelled"]),
    ],
)
@pytest.mark.parametrize("source", ["cli", "web", "api"])
async def test_g3_a_decision_is_recorded_with_the_decider_the_door_and_the_comment(
    office: Office, verdict: str, types: list[str], source: DecisionSource
) -> None:
    """One event closes the trail, whichever way it goes."""
    approvals = office.approvals
    async with office.worker():
        handle = await office.start(ask("transfer", "w", step="w"))
        approval = office.asked_by(handle, "w")
        record = await office.until_asked(approval)
        if verdict == "cancel":
            await approvals.cancel(approval, by=EVE, comment="Seen.", source=source)
        else:
            say = approvals.approve if verdict == "approve" else approvals.reject
            await say(approval, approver=EVE, comment="Seen.", source=source)
        (envelope,) = await handle.result()

    assert office.trail(envelope.execution_id) == [*ASKED, *types]
    of_approval = [event for event in office.events.events if event.approval_id is not None]
    noted = [event.type.removeprefix("capability.") for event in of_approval]
    assert noted == [type_ for type_ in types if type_ not in {"started", "completed"}]
    for event in of_approval:
        assert event.approval_id == event.workflow_id == approval
        assert (event.approver_id, event.approver_kind) == ("eve", "service")
        assert (event.source, event.comment) == (source, "Seen.")
        assert (event.actor_id, event.surface) == (ADA.id, "agent")
        assert (event.capability, event.risk, event.side_effect) == (
            "pay.transfer",
            "high",
            "write",
        )
        assert event.input_hash == record.input_hash
    requested = office.events.events[1]
    assert (requested.reasons, requested.effect) == (("Money leaves the house.",), "none")
    closing = office.events.events[-1]
    if isinstance(envelope, Failed):
        assert (closing.error_code, closing.stage) == (envelope.code, "approval")
    assert closing.effect == envelope.effect


async def test_g3_an_expiry_and_a_cancellation_name_nobody(office: Office) -> None:
    """Nobody decided."""
    async with office.worker():
        expired = await office.request("hasty", "w")
        cancelled = await office.request("transfer", "w")
        await office.client.get_workflow_handle(cancelled).cancel()
        for approval in (expired, cancelled):
            await office.approvals.outcome(approval)

    closing = {
        event.type.removeprefix("capability."): event
        for event in office.events.events
        if event.approval_id is not None
    }
    assert set(closing) == {"approval_expired", "approval_cancelled"}
    for event in closing.values():
        assert (event.approver_id, event.source, event.comment) == (None, None, None)
        assert event.effect == "none"


async def test_g3_the_correlation_id_and_what_is_repeated_go_along(office: Office) -> None:
    """Through the approval, to the events and to the handler."""
    async with office.worker():
        handle = await office.start(ask("note", "w", step="n"), hold=True)
        await office.answers(handle, 1)
        await handle.signal("ask", ask("transfer", "w", step="a", wait=False))
        first = office.asked_by(handle, "a")
        await office.until_asked(first)
        await office.approvals.reject(first, approver=BOB)
        await office.approvals.outcome(first)
        await handle.signal("ask", ask("transfer", "w", step="b", wait=False))
        second = office.asked_by(handle, "b")
        await office.until_asked(second)
        await office.approvals.approve(second, approver=BOB)
        outcome = await office.approvals.outcome(second)
        await handle.signal("finish")
        await handle.result()

    assert isinstance(outcome, Completed)
    assert outcome.repeat_of == first.removeprefix("approval-")
    events = [e for e in office.events.events if e.execution_id == outcome.execution_id]
    assert {event.repeat_of for event in events} == {outcome.repeat_of}
    assert [entry.repeat_of for entry in office.books.entries("w")] == [None, outcome.repeat_of]


class Lost:
    """A sink that records nothing of approvals."""

    def record(self, event: Event) -> Awaitable[None] | None:
        """Fail where it is about an approval."""
        if event.approval_id is not None:
            raise ConnectionError("the audit is away")
        return None


async def test_g3_an_audit_that_is_away_decides_nothing(
    embedded: EmbeddedServer, books: Books, task_queue: str
) -> None:
    """A sink that fails does not keep what was approved from running."""
    sink = MemorySink()
    app = app_of(books, [Lost(), sink])
    office = await Office.opened(embedded, app, task_queue, books, sink)
    async with office.worker():
        approval = await office.request("transfer", "w")
        await office.approvals.approve(approval, approver=BOB)
        outcome = await office.approvals.outcome(approval)
    assert isinstance(outcome, Completed)
    assert office.trail(outcome.execution_id)[-1] == "completed"


class Strict(MemorySink):
    """A sink that cannot record that a handler is about to be entered."""

    def record(self, event: Event) -> None:
        """Fail there."""
        if event.type == "capability.started":
            raise ConnectionError("the audit is away")
        super().record(event)


async def test_g3_in_strict_audit_what_cannot_be_recorded_is_not_run_though_approved(
    embedded: EmbeddedServer, books: Books, task_queue: str
) -> None:
    """The approval is used up: whoever wants it asks again."""
    sink = Strict()
    app = dataclasses.replace(
        app_of(books, [sink]), strict_audit=True, sink_timeout=timedelta(seconds=1)
    )
    office = await Office.opened(embedded, app, task_queue, books, sink)
    async with office.worker():
        approval = await office.request("transfer", "w")
        await office.approvals.approve(approval, approver=BOB)
        outcome = await office.approvals.outcome(approval)
    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.effect) == ("AUDIT_UNAVAILABLE", "none")
    assert books.entries() == []
    assert office.trail(outcome.execution_id) == [
        *ASKED,
        "approved",
        "approval_consumed",
        "failed",
    ]
