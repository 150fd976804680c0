"""The payment gateway: money leaves the shop's account once per idempotency key.

It keeps its own SQLite file, as a payment company keeps its own books: `charges` is the money that
moved, `requests` is every request that arrived. A request whose key is known gets the recorded
charge; nothing moves again. That is the half of "not charged twice" that `temperance` cannot give:
it gives the stable key (G5), the gateway must know the key again.

A gateway can be told to give no answer: the money has moved, and the request hangs until its caller
gives up or dies.
"""

import asyncio
import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from . import database
from .money import from_cents, to_cents

HANG_SECONDS = 600.0
"""How long a request hangs that gets no answer: longer than any caller waits."""

_SCHEMA = """
CREATE TABLE charges (
    key TEXT PRIMARY KEY, charge_id TEXT NOT NULL, order_id TEXT NOT NULL, cents INTEGER NOT NULL
);
CREATE TABLE requests (
    n INTEGER PRIMARY KEY, key TEXT NOT NULL, order_id TEXT NOT NULL, pid INTEGER NOT NULL,
    outcome TEXT NOT NULL, answered INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE silences (order_id TEXT PRIMARY KEY, times_left INTEGER NOT NULL);
"""


class KeyReusedError(Exception):
    """Raised when a key comes again with another order or amount: the key is not a key then."""


@dataclass(frozen=True, slots=True)
class Charge:
    """Money that left the shop's account."""

    id: str
    key: str
    order: str
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Request:
    """One request that arrived.

    `outcome` is `moved`, `known` (nothing moved again) or `refused` (another payment's key).
    """

    key: str
    order: str
    pid: int
    outcome: str
    answered: bool


class Gateway:
    """Pays refunds out, and remembers every key for which it has paid."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def create(self, silences: Mapping[str, int]) -> None:
        """Creates the file. `silences` says how many payments of an order get no answer."""
        database.create(self._path, _SCHEMA)
        with database.writing(self._path) as db:
            db.executemany("INSERT INTO silences VALUES (?, ?)", list(silences.items()))

    async def refund(self, order: str, amount: Decimal, *, key: str) -> Charge:
        """Pays `amount` for `order` out, once per `key`.

        Raises:
            KeyReusedError: the key was used for another order or amount.
        """
        number, charge, silent = await asyncio.to_thread(self._settle, order, amount, key)
        if silent:
            await asyncio.sleep(HANG_SECONDS)
        await asyncio.to_thread(self._answer, number)
        return charge

    def _settle(self, order: str, amount: Decimal, key: str) -> tuple[int, Charge, bool]:
        """The number of the request, its charge, and whether it gets no answer."""
        cents = to_cents(amount)
        with database.writing(self._path) as db:
            known = db.execute("SELECT * FROM charges WHERE key = ?", (key,)).fetchone()
            if known is None:
                outcome = "moved"
            elif (known["order_id"], known["cents"]) == (order, cents):
                outcome = "known"
            else:
                outcome = "refused"
            number = db.execute(
                "INSERT INTO requests (key, order_id, pid, outcome)"
                " VALUES (?, ?, ?, ?) RETURNING n",
                (key, order, os.getpid(), outcome),
            ).fetchone()["n"]
            charge_id = f"ch_{number:06d}" if known is None else str(known["charge_id"])
            silent = False
            if outcome == "moved":
                db.execute(
                    "INSERT INTO charges VALUES (?, ?, ?, ?)", (key, charge_id, order, cents)
                )
                silent = _consume_silence(db, order)
        if outcome == "refused":
            raise KeyReusedError("this idempotency key belongs to another payment")
        return number, Charge(charge_id, key, order, amount), silent

    def _answer(self, number: int) -> None:
        with database.writing(self._path) as db:
            db.execute("UPDATE requests SET answered = 1 WHERE n = ?", (number,))

    def charges(self) -> tuple[Charge, ...]:
        """All money that moved, oldest first."""
        with database.reading(self._path) as db:
            rows = db.execute("SELECT * FROM charges ORDER BY rowid")
            return tuple(
                Charge(r["charge_id"], r["key"], r["order_id"], from_cents(r["cents"]))
                for r in rows
            )

    def requests(self, order: str) -> tuple[Request, ...]:
        """Every request for this order, oldest first."""
        with database.reading(self._path) as db:
            rows = db.execute("SELECT * FROM requests WHERE order_id = ? ORDER BY n", (order,))
            return tuple(
                Request(r["key"], r["order_id"], r["pid"], r["outcome"], bool(r["answered"]))
                for r in rows
            )


def _consume_silence(db: sqlite3.Connection, order: str) -> bool:
    taken = db.execute(
        "UPDATE silences SET times_left = times_left - 1 WHERE order_id = ? AND times_left > 0",
        (order,),
    )
    return taken.rowcount == 1
