"""The ledger believes the databases, and says where the envelopes differ from them."""

from decimal import Decimal
from pathlib import Path

import pytest

from support_desk.ledger import Books, Totals, count, discrepancies
from support_desk.premises import Premises, bundled_stock
from support_desk.records import CallRecord, Effect, TicketRecord

NOTHING = Totals(
    refunds=0,
    refunded=Decimal(0),
    charges=0,
    charged=Decimal(0),
    letters=0,
    letters_without_receipt=0,
    addresses_changed=0,
    customers_erased=0,
)


@pytest.fixture
def premises(tmp_path: Path) -> Premises:
    premises = Premises(tmp_path)
    premises.create(bundled_stock())
    return premises


def books(premises: Premises) -> Books:
    return count(premises, [r.key for r in bundled_stock().earlier_refunds])


def record(capability: str, effect: Effect, ticket: str = "T-1") -> TicketRecord:
    call = CallRecord(
        capability=capability,
        execution="e",
        status="completed" if effect == "done" else "failed",
        effect=effect,
        attempts=1,
    )
    return TicketRecord(ticket=ticket, outcome="refunded", calls=(call,))


async def refund(premises: Premises, key: str = "k1") -> None:
    ten = Decimal("10.00")
    premises.shop.open_refund("A-2002", "C-02", ten, ticket="T-1", key=key)
    charge = await premises.gateway.refund("A-2002", ten, key=key)
    premises.shop.close_refund(key, charge.id)


def test_what_the_shop_starts_with_is_not_counted(premises: Premises) -> None:
    assert books(premises).totals == NOTHING


async def test_real_effects_are_counted(premises: Premises) -> None:
    await refund(premises)
    await premises.mail_server.send(ticket="T-1", to="a@example.com", subject="s", body="b")
    totals = books(premises).totals
    assert (totals.refunds, totals.refunded) == (1, Decimal("10.00"))
    assert (totals.charges, totals.charged) == (1, Decimal("10.00"))
    assert (totals.letters, totals.letters_without_receipt) == (1, 0)


@pytest.mark.parametrize(
    ("said", "times", "agrees"),
    [
        ("done", 0, False),
        ("done", 1, True),
        ("done", 2, False),
        ("possible", 0, True),
        ("possible", 1, True),
        ("possible", 2, False),
        ("none", 0, True),
        ("none", 1, False),
    ],
)
async def test_an_envelope_must_have_the_effects_that_it_speaks_of(
    premises: Premises, said: Effect, times: int, agrees: bool
) -> None:
    for number in range(times):
        await refund(premises, f"k{number}")
        await premises.mail_server.send(ticket="T-2", to="a@example.com", subject="s", body="b")
    records = [record("orders.refund", said), record("mail.send", said, "T-2")]
    found = discrepancies(books(premises), records, None)
    assert len(found) == (0 if agrees else 2)


async def test_a_charge_that_the_shop_has_not_booked_is_found(premises: Premises) -> None:
    await premises.gateway.refund("A-2002", Decimal("10.00"), key="of nobody")
    assert "in no book" in discrepancies(books(premises), [], None)[0]


async def test_an_effect_of_a_ticket_without_a_record_is_found(premises: Premises) -> None:
    await refund(premises)
    assert discrepancies(books(premises), [], None) == ("T-1: an effect without a finished ticket",)


def test_an_address_that_nobody_was_allowed_to_change_is_found(premises: Premises) -> None:
    premises.shop.change_address("A-2013", "C-01", "elsewhere")
    premises.shop.erase_customer("C-01")
    records = [record("orders.change_address", "none"), record("customers.erase", "none")]
    assert len(discrepancies(books(premises), records, None)) == 2


def test_totals_other_than_the_expected_are_named(premises: Premises) -> None:
    expected = NOTHING.model_copy(update={"letters": 3})
    assert discrepancies(books(premises), [], expected) == ("letters: 0 instead of 3",)
