"""The shop: customers, orders and the book of refunds, in SQLite.

The shop keeps its own rules whoever asks: an order is refunded to its own customer only, and never
beyond its total. A refund is booked as open before the gateway is asked and closed with the charge
after, both under the idempotency key: an attempt that comes again finds its own booking and goes
on from there.
"""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Literal

from . import database
from .models import Customer, Order, OrderStatus
from .money import from_cents, to_cents

Rule = Literal[
    "UNKNOWN_CUSTOMER", "UNKNOWN_ORDER", "NOT_YOUR_ORDER", "ALREADY_REFUNDED", "MORE_THAN_IS_LEFT"
]
"""The rules by which the shop refuses."""

_SCHEMA = """
CREATE TABLE customers (
    id TEXT PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL
);
CREATE TABLE orders (
    id TEXT PRIMARY KEY, customer TEXT NOT NULL REFERENCES customers (id), item TEXT NOT NULL,
    cents INTEGER NOT NULL CHECK (cents > 0), status TEXT NOT NULL
);
CREATE TABLE refunds (
    key TEXT PRIMARY KEY, order_id TEXT NOT NULL REFERENCES orders (id), ticket TEXT NOT NULL,
    cents INTEGER NOT NULL CHECK (cents > 0), charge_id TEXT
);
CREATE TABLE addresses (
    n INTEGER PRIMARY KEY, order_id TEXT NOT NULL REFERENCES orders (id), address TEXT NOT NULL
);
"""

_ORDER = """
SELECT orders.*, (
    SELECT COALESCE(SUM(cents), 0) FROM refunds WHERE order_id = orders.id
) AS refunded FROM orders WHERE id = ?
"""


class ShopError(Exception):
    """Raised when a rule of the shop forbids what was asked."""

    def __init__(self, rule: Rule) -> None:
        super().__init__(rule)
        self.rule: Rule = rule


@dataclass(frozen=True, slots=True)
class Booking:
    """A refund in the shop's book. Open until it has a charge: the money may have moved or not."""

    key: str
    order: str
    ticket: str
    amount: Decimal
    charge: str | None


@dataclass(frozen=True, slots=True)
class StockedOrder:
    """An order as the shop starts with it."""

    id: str
    customer: str
    item: str
    total: Decimal
    status: OrderStatus


class Shop:
    """The shop's books. Every method opens and closes a connection of its own."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def create(
        self,
        customers: Iterable[Customer],
        orders: Iterable[StockedOrder],
        refunds: Iterable[Booking],
    ) -> None:
        """Creates the file with what the shop starts with."""
        database.create(self._path, _SCHEMA)
        with database.writing(self._path) as db:
            db.executemany(
                "INSERT INTO customers VALUES (?, ?, ?)",
                [(c.id, c.email, c.name) for c in customers],
            )
            db.executemany(
                "INSERT INTO orders VALUES (?, ?, ?, ?, ?)",
                [(o.id, o.customer, o.item, to_cents(o.total), o.status) for o in orders],
            )
            db.executemany(
                "INSERT INTO refunds VALUES (?, ?, ?, ?, ?)",
                [(r.key, r.order, r.ticket, to_cents(r.amount), r.charge) for r in refunds],
            )

    def customer(self, email: str) -> Customer:
        """The customer with this address.

        Raises:
            ShopError: UNKNOWN_CUSTOMER.
        """
        with database.reading(self._path) as db:
            row = db.execute("SELECT * FROM customers WHERE email = ?", (email,)).fetchone()
        if row is None:
            raise ShopError("UNKNOWN_CUSTOMER")
        return Customer(id=row["id"], email=row["email"], name=row["name"])

    def order(self, order: str, customer: str) -> Order:
        """An order of this customer.

        Raises:
            ShopError: UNKNOWN_ORDER, NOT_YOUR_ORDER.
        """
        with database.reading(self._path) as db:
            return _owned(db, order, customer)

    def open_refund(
        self, order: str, customer: str, amount: Decimal, *, ticket: str, key: str
    ) -> Booking:
        """Books a refund, or finds the booking that this key made before.

        Raises:
            ShopError: UNKNOWN_ORDER, NOT_YOUR_ORDER, ALREADY_REFUNDED (nothing is left to
                refund), MORE_THAN_IS_LEFT.
        """
        with database.writing(self._path) as db:
            found = _owned(db, order, customer)
            booked = db.execute("SELECT * FROM refunds WHERE key = ?", (key,)).fetchone()
            if booked is not None:
                return _booking(booked)
            left = found.total - found.refunded
            if left == 0:
                raise ShopError("ALREADY_REFUNDED")
            if amount > left:
                raise ShopError("MORE_THAN_IS_LEFT")
            db.execute(
                "INSERT INTO refunds (key, order_id, ticket, cents) VALUES (?, ?, ?, ?)",
                (key, order, ticket, to_cents(amount)),
            )
        return Booking(key, order, ticket, amount, None)

    def close_refund(self, key: str, charge: str) -> None:
        """Writes the charge into the booking of this key."""
        with database.writing(self._path) as db:
            db.execute("UPDATE refunds SET charge_id = ? WHERE key = ?", (charge, key))

    def change_address(self, order: str, customer: str, address: str) -> None:
        """Sends an order elsewhere.

        Raises:
            ShopError: UNKNOWN_ORDER, NOT_YOUR_ORDER.
        """
        with database.writing(self._path) as db:
            _owned(db, order, customer)
            db.execute("INSERT INTO addresses (order_id, address) VALUES (?, ?)", (order, address))

    def erase_customer(self, customer: str) -> None:
        """Blanks a customer's name and address, as the law on data protection has it."""
        with database.writing(self._path) as db:
            db.execute(
                "UPDATE customers SET name = 'erased', email = id || '@erased.invalid'"
                " WHERE id = ?",
                (customer,),
            )

    def refunds(self) -> tuple[Booking, ...]:
        """The book of refunds, oldest first."""
        with database.reading(self._path) as db:
            return tuple(_booking(r) for r in db.execute("SELECT * FROM refunds ORDER BY rowid"))

    def changed_addresses(self) -> int:
        """How many addresses were changed."""
        with database.reading(self._path) as db:
            return int(db.execute("SELECT COUNT(*) FROM addresses").fetchone()[0])

    def erased_customers(self) -> int:
        """How many customers were erased."""
        with database.reading(self._path) as db:
            count = "SELECT COUNT(*) FROM customers WHERE email LIKE '%@erased.invalid'"
            return int(db.execute(count).fetchone()[0])


def _owned(db: sqlite3.Connection, order: str, customer: str) -> Order:
    row = db.execute(_ORDER, (order,)).fetchone()
    if row is None:
        raise ShopError("UNKNOWN_ORDER")
    if row["customer"] != customer:
        raise ShopError("NOT_YOUR_ORDER")
    return Order(
        id=row["id"],
        customer=row["customer"],
        item=row["item"],
        total=from_cents(row["cents"]),
        refunded=from_cents(row["refunded"]),
        status=row["status"],
    )


def _booking(row: sqlite3.Row) -> Booking:
    return Booking(
        row["key"], row["order_id"], row["ticket"], from_cents(row["cents"]), row["charge_id"]
    )
