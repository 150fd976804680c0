"""The incidents are told from the books, and a broken promise is seen as such."""

import asyncio
import os
from datetime import UTC, datetime
from decimal import Decimal
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from support_desk.gateway import Gateway
from support_desk.premises import Premises, bundled_stock, bundled_tickets
from support_desk.records import CallRecord, Effect, TicketRecord
from support_desk.report import show_problems, show_stories, show_tickets
from support_desk.shift_lead import Minutes
from support_desk.stories import Scene, Story, stories
from support_desk.stories_of_approvals import approval_stories
from support_desk.tickets import Problem, read_inbox
from support_desk.warehouse import WarehouseError
from support_desk.workflow import DESK
from temperance import ApprovalRecord
from temperance.runtime.approval import ApprovalState

TICKETS = {t.id: t for t in read_inbox(bundled_tickets()).tickets}
INCIDENTS = bundled_stock().incidents


@pytest.fixture
def premises(tmp_path: Path) -> Premises:
    premises = Premises(tmp_path)
    premises.create(bundled_stock())
    return premises


def record(ticket: str, capability: str, attempts: int, effect: Effect = "done") -> TicketRecord:
    call = CallRecord(
        capability=capability,
        execution="e",
        status="completed" if effect == "done" else "failed",
        effect=effect,
        attempts=attempts,
        errors=("TIMEOUT",) * (attempts - 1),
    )
    return TicketRecord(ticket=ticket, outcome="refunded", calls=(call,))


def tell(premises: Premises, told: TicketRecord, killed: tuple[int, ...] = ()) -> Story:
    scene = Scene(premises, TICKETS, {told.ticket: told}, {os.getpid(): "worker-1"})
    (story,) = stories(scene, INCIDENTS, killed)
    return story


async def pay(gateway: Gateway, order: str, amount: str, *keys: str) -> None:
    """Asks for the money under each key; the first request gets no answer."""
    for key in keys:
        try:
            async with asyncio.timeout(0.2):
                await gateway.refund(order, Decimal(amount), key=key)
        except TimeoutError:
            continue


async def test_a_timeout_after_the_money_moved_is_told_with_one_key_and_one_charge(
    premises: Premises,
) -> None:
    await pay(premises.gateway, "A-2006", "89.00", "0123456789", "0123456789")
    story = tell(premises, record("T-1006", "orders.refund", 2))
    assert story.holds
    assert story.lines == (
        "request 1 by worker-1, key 01234567...: the money moved, and no answer came",
        "request 2 by worker-1, key 01234567...: the gateway knew the key: the recorded charge, "
        "nothing moved",
        "envelope: completed, 2 attempts (TIMEOUT before); 1 key, 1 charge, 89.00 EUR",
    )


async def test_a_second_key_is_seen_as_a_broken_promise(premises: Premises) -> None:
    await pay(premises.gateway, "A-2006", "89.00", "k1", "k2")
    assert not tell(premises, record("T-1006", "orders.refund", 2)).holds


def test_a_read_that_failed_twice_is_told_with_three_reads(premises: Premises) -> None:
    for _ in range(2):
        with pytest.raises(WarehouseError):
            premises.warehouse.last_seen("A-2003")
    premises.warehouse.last_seen("A-2003")
    story = tell(premises, record("T-1003", "orders.lookup", 3))
    assert story.holds
    assert [line.split(": ")[1] for line in story.lines[:3]] == ["failed", "failed", "answered"]


async def test_a_killed_refund_is_told_only_where_a_worker_was_killed(premises: Premises) -> None:
    await pay(premises.gateway, "A-2014", "96.40", "k1", "k1")
    told = record("T-1016", "orders.refund", 2)
    assert tell(premises, told, (os.getpid(),)).holds
    scene = Scene(premises, TICKETS, {told.ticket: told}, {})
    assert stories(scene, INCIDENTS, ()) == ()


@pytest.mark.parametrize(("times", "holds"), [(1, True), (2, False)])
async def test_a_killed_letter_holds_while_it_was_sent_once(
    premises: Premises, times: int, holds: bool
) -> None:
    for _ in range(times):
        try:
            async with asyncio.timeout(0.2):
                await premises.mail_server.send(
                    ticket="T-1017", to="a@example.com", subject="s", body="b"
                )
        except TimeoutError:
            continue
    story = tell(premises, record("T-1017", "mail.send", 1, "possible"), (os.getpid(),))
    assert story.holds is holds


@pytest.mark.parametrize(
    ("state", "effect", "charges", "holds"),
    [
        ("consumed", "done", 1, True),
        ("consumed", "possible", 1, True),
        ("consumed", "none", 0, True),
        ("rejected", "none", 0, True),
        ("consumed", "done", 2, False),
        ("consumed", "done", 0, False),
        ("rejected", "none", 1, False),
        ("rejected", "done", 1, False),
        ("expired", "possible", 1, False),
    ],
)
async def test_money_that_moved_without_an_approval_is_seen_as_a_broken_promise(
    premises: Premises, state: ApprovalState, effect: Effect, charges: int, holds: bool
) -> None:
    for number in range(charges):
        await premises.gateway.refund("A-2012", Decimal("749.00"), key=f"k{number}")
    told = record("T-1014", "orders.refund", 1, effect)
    scene = Scene(premises, TICKETS, {told.ticket: told}, {})
    now = datetime.now(UTC)
    decided = ApprovalRecord(
        id="approval-1",
        execution_id="e",
        capability="orders.refund",
        description="Refund an order.",
        actor=DESK,
        surface="agent",
        input_hash="",
        shown={},
        reasons=("Much money.",),
        risk="high",
        side_effect="write",
        requested_at=now,
        expires_at=now,
        state=state,
    )
    (story,) = approval_stories(scene, [Minutes("T-1014", decided)], ())
    assert story.holds is holds
    assert story.lines[0] == "asked by automation:support-desk: Much money."


def test_the_report_is_plain_text_where_there_is_no_terminal(premises: Premises) -> None:
    out = StringIO()
    console = Console(file=out, width=120, markup=False)
    show_problems(console, "tickets.jsonl", [Problem(line=6, reason="amount: [red]wrong")])
    told = record("T-1003", "orders.lookup", 3)
    show_tickets(console, [TICKETS["T-1003"], TICKETS["T-1004"]], [told])
    show_stories(console, [tell(premises, told)])
    text = out.getvalue()
    assert "line 6: amount: [red]wrong" in text
    assert "orders.lookup (3)" in text
    assert "not finished" in text
    assert "THIS IS NOT WHAT WAS PROMISED" in text
    assert "\x1b" not in text
