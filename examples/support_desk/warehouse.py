"""The warehouse: a read that can fail, in an SQLite file of its own.

How often an order's next reads fail is stored with the order, so it works across worker processes.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from . import database

_SCHEMA = """
CREATE TABLE shelf (
    order_id TEXT PRIMARY KEY, last_seen TEXT NOT NULL, failures_left INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE reads (
    n INTEGER PRIMARY KEY, order_id TEXT NOT NULL, pid INTEGER NOT NULL, answered INTEGER NOT NULL
);
"""


class WarehouseError(Exception):
    """Raised when the warehouse does not answer. To ask again may help."""


@dataclass(frozen=True, slots=True)
class Read:
    """One question to the warehouse: by which process, and whether it was answered."""

    order: str
    pid: int
    answered: bool


class Warehouse:
    """Knows where a parcel was last seen."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def create(self, last_seen: Mapping[str, str], failures: Mapping[str, int]) -> None:
        """Creates the file. `failures` says how often the next reads of an order fail."""
        database.create(self._path, _SCHEMA)
        with database.writing(self._path) as db:
            db.executemany(
                "INSERT INTO shelf (order_id, last_seen, failures_left) VALUES (?, ?, ?)",
                [(order, place, failures.get(order, 0)) for order, place in last_seen.items()],
            )

    def last_seen(self, order: str) -> str:
        """Where the parcel of this order was last seen.

        Raises:
            WarehouseError: the warehouse did not answer this time.
            KeyError: the warehouse has no such order.
        """
        with database.writing(self._path) as db:
            row = db.execute(
                "SELECT last_seen, failures_left FROM shelf WHERE order_id = ?", (order,)
            ).fetchone()
            if row is None:
                raise KeyError(order)
            fails = row["failures_left"] > 0
            if fails:
                db.execute(
                    "UPDATE shelf SET failures_left = failures_left - 1 WHERE order_id = ?",
                    (order,),
                )
            db.execute(
                "INSERT INTO reads (order_id, pid, answered) VALUES (?, ?, ?)",
                (order, os.getpid(), not fails),
            )
        if fails:
            raise WarehouseError("connection reset by the warehouse")
        return str(row["last_seen"])

    def reads(self, order: str) -> tuple[Read, ...]:
        """Every question about this order, oldest first."""
        with database.reading(self._path) as db:
            rows = db.execute("SELECT * FROM reads WHERE order_id = ? ORDER BY n", (order,))
            return tuple(Read(r["order_id"], r["pid"], bool(r["answered"])) for r in rows)
