"""The ledger: what really happened, counted in the databases, against what the envelopes say.

An envelope that says `done` must have its one effect in the books, `none` must have none, and
`possible` at most one. Nothing may be there that no envelope speaks of.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from pydantic import BaseModel, ConfigDict

from .premises import DATA, Premises
from .records import Effect, TicketRecord


class Totals(BaseModel):
    """Real effects. Refunds and charges of earlier days are not counted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    refunds: int
    refunded: Decimal
    charges: int
    charged: Decimal
    letters: int
    letters_without_receipt: int
    addresses_changed: int
    customers_erased: int


@dataclass(frozen=True, slots=True)
class Books:
    """Everything countable, read at one time."""

    totals: Totals
    refunds_of_ticket: Counter[str]
    charges_of_ticket: Counter[str]
    letters_of_ticket: Counter[str]
    unbooked_charges: int


def expected_totals() -> Totals:
    """The totals that the bundled tickets must lead to."""
    return Totals.model_validate_json((DATA / "expected.json").read_bytes())


def count(premises: Premises, earlier: Iterable[str]) -> Books:
    """Counts the books. `earlier` are the keys of refunds that were there before."""
    before = frozenset(earlier)
    refunds = [r for r in premises.shop.refunds() if r.key not in before]
    charges = premises.gateway.charges()
    letters = premises.mail_server.letters()
    ticket_of_key = {r.key: r.ticket for r in refunds}
    return Books(
        totals=Totals(
            refunds=sum(r.charge is not None for r in refunds),
            refunded=sum((r.amount for r in refunds if r.charge is not None), Decimal(0)),
            charges=len(charges),
            charged=sum((c.amount for c in charges), Decimal(0)),
            letters=len(letters),
            letters_without_receipt=sum(not letter.receipted for letter in letters),
            addresses_changed=premises.shop.changed_addresses(),
            customers_erased=premises.shop.erased_customers(),
        ),
        refunds_of_ticket=Counter(r.ticket for r in refunds),
        charges_of_ticket=Counter(ticket_of_key[c.key] for c in charges if c.key in ticket_of_key),
        letters_of_ticket=Counter(letter.ticket for letter in letters),
        unbooked_charges=sum(c.key not in ticket_of_key for c in charges),
    )


def discrepancies(
    books: Books, records: Iterable[TicketRecord], expected: Totals | None
) -> tuple[str, ...]:
    """Where the books differ from the envelopes, or from the expected totals if there are any."""
    found: list[str] = []
    known = list(records)
    for record in known:
        refund, letter = record.call("orders.refund"), record.call("mail.send")
        said: Effect = refund.effect if refund is not None else "none"
        found += _differs(record.ticket, "charge", said, books.charges_of_ticket[record.ticket])
        said = letter.effect if letter is not None else "none"
        found += _differs(record.ticket, "letter", said, books.letters_of_ticket[record.ticket])
    tickets = {record.ticket for record in known}
    strangers = {*books.refunds_of_ticket, *books.letters_of_ticket} - tickets
    found += [f"{ticket}: an effect without a finished ticket" for ticket in sorted(strangers)]
    if books.unbooked_charges:
        found.append(f"{books.unbooked_charges} charges that are in no book of the shop")
    totals = books.totals
    found += _counts(known, "orders.change_address", totals.addresses_changed)
    found += _counts(known, "customers.erase", totals.customers_erased)
    if expected is not None:
        found += _off(totals, expected)
    return tuple(found)


def _differs(ticket: str, what: str, said: Effect, real: int) -> list[str]:
    allowed = {"none": (0,), "possible": (0, 1), "done": (1,)}[said]
    if real in allowed:
        return []
    return [f"{ticket}: the envelope says {said}, the books have {real} of its {what}"]


def _counts(records: list[TicketRecord], capability: str, real: int) -> list[str]:
    effects = Counter(c.effect for r in records if (c := r.call(capability)) is not None)
    if effects["done"] <= real <= effects["done"] + effects["possible"]:
        return []
    return [f"{capability}: {real} in the books, {effects['done']} in the envelopes"]


def _off(real: Totals, expected: Totals) -> list[str]:
    return [
        f"{name.replace('_', ' ')}: {getattr(real, name)} instead of {value}"
        for name, value in expected
        if getattr(real, name) != value
    ]
