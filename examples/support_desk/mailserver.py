"""The mail server: accepts a letter each time it is asked, and knows no keys.

That is why sending is not idempotent: whoever asks twice sends two letters. It can be told to give
no answer after it has accepted a letter.
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from . import database

HANG_SECONDS = 600.0
"""How long a letter hangs that gets no receipt: longer than any caller waits."""

_SCHEMA = """
CREATE TABLE outbox (
    n INTEGER PRIMARY KEY, ticket TEXT NOT NULL, recipient TEXT NOT NULL, subject TEXT NOT NULL,
    body TEXT NOT NULL, pid INTEGER NOT NULL, receipted INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE silences (ticket TEXT PRIMARY KEY, times_left INTEGER NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter that is on its way, the process that posted it, and whether it got the receipt."""

    number: int
    ticket: str
    pid: int
    receipted: bool


class MailServer:
    """Sends letters, and keeps an outbox that people can count."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def create(self, silences: Mapping[str, int]) -> None:
        """Creates the file. `silences` says how many letters of a ticket get no receipt."""
        database.create(self._path, _SCHEMA)
        with database.writing(self._path) as db:
            db.executemany("INSERT INTO silences VALUES (?, ?)", list(silences.items()))

    async def send(self, *, ticket: str, to: str, subject: str, body: str) -> int:
        """Sends a letter and returns the number on its receipt."""
        number, silent = await asyncio.to_thread(self._accept, ticket, to, subject, body)
        if silent:
            await asyncio.sleep(HANG_SECONDS)
        await asyncio.to_thread(self._receipt, number)
        return number

    def _accept(self, ticket: str, to: str, subject: str, body: str) -> tuple[int, bool]:
        with database.writing(self._path) as db:
            number = db.execute(
                "INSERT INTO outbox (ticket, recipient, subject, body, pid)"
                " VALUES (?, ?, ?, ?, ?) RETURNING n",
                (ticket, to, subject, body, os.getpid()),
            ).fetchone()["n"]
            taken = db.execute(
                "UPDATE silences SET times_left = times_left - 1"
                " WHERE ticket = ? AND times_left > 0",
                (ticket,),
            )
        return int(number), taken.rowcount == 1

    def _receipt(self, number: int) -> None:
        with database.writing(self._path) as db:
            db.execute("UPDATE outbox SET receipted = 1 WHERE n = ?", (number,))

    def letters(self) -> tuple[Letter, ...]:
        """Every letter that was sent, oldest first."""
        with database.reading(self._path) as db:
            rows = db.execute("SELECT n, ticket, pid, receipted FROM outbox ORDER BY n")
            return tuple(Letter(r["n"], r["ticket"], r["pid"], bool(r["receipted"])) for r in rows)
