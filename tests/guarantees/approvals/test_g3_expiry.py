"""Expiry: a decision counts until then, and who decided and who asked are told the same (G3)."""

import asyncio
import dataclasses
from datetime import UTC, datetime, timedelta

from temperance import CapabilityError, Completed, Event, Failed, MemorySink
from temperance.embedded import EmbeddedServer
from temperance.runtime.approval import ApprovalRecord
from tests.guarantees.approvals.capabilities import app_of
from tests.guarantees.approvals.office import BOB, Office
from tests.guarantees.runs.books import Books
from tests.support.waiting import wait_until

SOON = timedelta(milliseconds=400)


async def decided(office: Office, approval: str) -> ApprovalRecord | str:
    """What the decider is told."""
    try:
        return await office.approvals.approve(approval, approver=BOB)
    except CapabilityError as error:
        return error.code


async def passed(moment: datetime) -> None:
    """Waits for a moment that nothing else tells."""
    await asyncio.sleep(max((moment - datetime.now(UTC)).total_seconds(), 0))


async def test_g3_where_a_decision_races_the_expiry_both_sides_agree_who_won(
    office: Office,
) -> None:
    """Twenty decisions, four milliseconds apart, around the expiry of as many approvals."""
    async with office.worker():

        async def race(number: int) -> None:
            label = f"w{number}"
            approval = await office.begin("transfer", label, expires_in=timedelta(seconds=1.5))
            record = await office.until_asked(approval)
            await passed(record.expires_at + timedelta(milliseconds=4) * (number - 13))
            told = await decided(office, approval)
            outcome = await office.approvals.outcome(approval)
            if isinstance(told, ApprovalRecord):
                assert isinstance(outcome, Completed), outcome
            else:
                assert isinstance(outcome, Failed)
                assert told == outcome.code == "APPROVAL_EXPIRED"
            assert len(office.books.entries(label)) == isinstance(told, ApprovalRecord)
            office.trail(outcome.execution_id)

        await asyncio.gather(*(race(number) for number in range(20)))


async def test_g3_a_decision_and_the_expiry_in_one_workflow_task_end_as_expired(
    office: Office,
) -> None:
    """No worker was there in time: a decision that waits for one does not count any more."""
    approval = await office.begin("transfer", "w", expires_in=SOON)
    async with office.worker(cached=0):
        await office.waiting(approval)
    deciding = asyncio.ensure_future(decided(office, approval))

    async def fired() -> bool:
        return "TIMER_FIRED" in await office.names(approval)

    await wait_until(fired)
    async with office.worker(cached=0):
        told = await deciding
        outcome = await office.approvals.outcome(approval)

    assert told == "APPROVAL_EXPIRED"
    assert isinstance(outcome, Failed)
    assert outcome.code == "APPROVAL_EXPIRED"
    assert office.books.entries() == []


async def test_g3_an_approval_that_no_worker_sees_before_its_expiry_expires(
    office: Office,
) -> None:
    """As soon as there is one."""
    approval = await office.begin("transfer", "w", expires_in=timedelta(milliseconds=1))
    async with office.worker():
        assert await decided(office, approval) == "APPROVAL_EXPIRED"
        outcome = await office.approvals.outcome(approval)
    assert isinstance(outcome, Failed)
    assert outcome.code == "APPROVAL_EXPIRED"


class Slow(MemorySink):
    """A sink that takes until a moment to record a decision."""

    def __init__(self, until: timedelta) -> None:
        super().__init__()
        self.until = until

    async def record(self, event: Event) -> None:  # type: ignore[override] # pyright: ignore[reportIncompatibleMethodOverride] - a sink may be either
        """Record, late."""
        if event.type == "capability.approved":
            await asyncio.sleep(self.until.total_seconds())
        super().record(event)


async def test_g3_a_decision_in_time_has_a_moment_to_begin_although_the_approval_expires(
    embedded: EmbeddedServer, books: Books, task_queue: str
) -> None:
    """The audit is slow, and the expiry passes before the handler: it was approved all the same."""
    sink = Slow(SOON * 2)
    app = dataclasses.replace(app_of(books, [sink]), sink_timeout=timedelta(seconds=5))
    office = await Office.opened(embedded, app, task_queue, books, sink)
    async with office.worker():
        approval = await office.begin("transfer", "w", expires_in=SOON)
        told = await decided(office, approval)
        outcome = await office.approvals.outcome(approval)

    assert isinstance(told, ApprovalRecord)
    (entry,) = books.entries("w")
    started = next(event for event in sink.events if event.type == "capability.started")
    assert started.at > told.expires_at
    assert isinstance(outcome, Completed)
    assert entry.execution_id == outcome.execution_id
