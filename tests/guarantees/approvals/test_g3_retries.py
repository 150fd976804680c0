"""An approval covers the execution that it authorizes, retries included, and no other (G3)."""

from temperance import Completed, Failed
from tests.guarantees.approvals.office import BOB, Office, ask


async def test_g3_a_retry_inside_an_approved_execution_needs_no_second_approval(
    office: Office,
) -> None:
    """Two attempts, one key, one approval; and the record names each."""
    async with office.worker():
        handle = await office.start(ask("charge", "w", "once", step="w"))
        approval = office.asked_by(handle, "w")
        await office.until_asked(approval)
        await office.approvals.approve(approval, approver=BOB)
        (envelope,) = await handle.result()

    assert isinstance(envelope, Completed)
    assert (envelope.attempts, envelope.errors) == (2, ("EXECUTION_FAILED",))
    assert [entry.attempt for entry in office.books.entries("w")] == [1, 2]
    assert {entry.key for entry in office.books.entries("w")} == {envelope.idempotency_key}
    assert office.trail(envelope.execution_id) == [
        "requested",
        "approval_requested",
        "approved",
        "approval_consumed",
        "started",
        "retried",
        "started",
        "completed",
    ]


async def test_g3_an_approved_write_that_fails_is_not_tried_again_and_not_approved_any_more(
    office: Office,
) -> None:
    """One attempt was approved; whoever wants another asks again, and is asked about it again."""
    async with office.worker():
        handle = await office.start(
            ask("transfer", "w", "raise", step="a"), ask("transfer", "w", "raise", step="b")
        )
        first, second = office.asked_by(handle, "a"), office.asked_by(handle, "b")
        await office.until_asked(first)
        await office.approvals.approve(first, approver=BOB)
        await office.until_asked(second)
        assert len(office.books.entries("w")) == 1
        await office.approvals.reject(second, approver=BOB)
        failed, rejected = await handle.result()

    assert isinstance(failed, Failed)
    assert (failed.code, failed.effect, failed.attempts) == ("EXECUTION_FAILED", "possible", 1)
    assert isinstance(rejected, Failed)
    assert (rejected.code, rejected.effect) == ("APPROVAL_REJECTED", "none")
    assert len(office.books.entries("w")) == 1


async def test_g3_an_approved_execution_whose_every_attempt_fails_ends_once(office: Office) -> None:
    """Three attempts under one approval; the last one closes the trail."""
    async with office.worker():
        approval = await office.request("charge", "w", "raise")
        await office.approvals.approve(approval, approver=BOB)
        envelope = await office.approvals.outcome(approval)

    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.attempts) == ("EXECUTION_FAILED", 3)
    assert len(office.books.entries("w")) == 3
    assert office.trail(envelope.execution_id)[-2:] == ["started", "failed"]
