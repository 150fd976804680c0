"""What really happened, in a SQLite file of the test's own: it outlives workers and servers."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from temperance import Event

_TABLES = """
CREATE TABLE IF NOT EXISTS entries (
    case_id TEXT NOT NULL, attempt INTEGER NOT NULL, execution_id TEXT NOT NULL, key TEXT NOT NULL,
    pid INTEGER NOT NULL, waited REAL);
CREATE TABLE IF NOT EXISTS returns (case_id TEXT NOT NULL, attempt INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS effects (case_id TEXT NOT NULL, key TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS charges (key TEXT PRIMARY KEY, case_id TEXT NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """A handler was entered.

    `waited` is the delay between the end of the attempt before and the time for which the server
    scheduled this one, by the server's own record.
    """

    case: str
    attempt: int
    execution_id: str
    key: str
    pid: int
    waited: timedelta | None = None


class Ledger:
    """The books of one test, in its folder; several processes write in them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with self._open() as connection:
            connection.executescript(_TABLES)

    @property
    def audit_path(self) -> Path:
        """Where the workers write the audit trail."""
        return self.folder / "audit.jsonl"

    def note_entry(self, entry: Entry) -> None:
        """Write that a handler was entered, before it does anything."""
        waited = None if entry.waited is None else entry.waited.total_seconds()
        row = (entry.case, entry.attempt, entry.execution_id, entry.key, entry.pid, waited)
        with self._open() as connection:
            connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", row)

    def note_return(self, case: str, attempt: int) -> None:
        """Write that a handler is about to give its output."""
        with self._open() as connection:
            connection.execute("INSERT INTO returns VALUES (?, ?)", (case, attempt))

    def take_effect(self, case: str, key: str) -> None:
        """An effect that nothing deduplicates."""
        with self._open() as connection:
            connection.execute("INSERT INTO effects VALUES (?, ?)", (case, key))

    def charge(self, case: str, key: str) -> None:
        """An effect at a gateway that takes each key once."""
        with self._open() as connection:
            connection.execute("INSERT OR IGNORE INTO charges VALUES (?, ?)", (key, case))

    def entries(self, case: str) -> list[Entry]:
        """The handler entries of a case, in their order."""
        with self._open() as connection:
            rows = connection.execute(
                "SELECT attempt, execution_id, key, pid, waited FROM entries WHERE case_id = ? "
                "ORDER BY rowid",
                (case,),
            ).fetchall()
        return [
            Entry(case, attempt, execution_id, key, pid, waited and timedelta(seconds=waited))
            for attempt, execution_id, key, pid, waited in rows
        ]

    def returns(self, case: str) -> list[int]:
        """The attempts of a case whose handlers gave an output, in the order in which they did."""
        with self._open() as connection:
            found = connection.execute(
                "SELECT attempt FROM returns WHERE case_id = ? ORDER BY rowid", (case,)
            )
            return [int(row[0]) for row in found.fetchall()]

    def effects(self, case: str) -> int:
        """How many effects a case had."""
        with self._open() as connection:
            found = connection.execute("SELECT count(*) FROM effects WHERE case_id = ?", (case,))
            return int(found.fetchone()[0])

    def charges(self, case: str) -> list[str]:
        """The keys under which the gateway has charged for a case."""
        with self._open() as connection:
            found = connection.execute("SELECT key FROM charges WHERE case_id = ?", (case,))
            return [str(row[0]) for row in found.fetchall()]

    def audit_lines(self, execution_id: str) -> list[Event]:
        """The audit events of an execution as they were delivered, so some may be there twice."""
        if not self.audit_path.exists():
            return []
        lines = self.audit_path.read_bytes().splitlines()
        events = [Event.model_validate_json(line) for line in lines]
        return [event for event in events if event.execution_id == execution_id]

    def audit(self, execution_id: str) -> list[Event]:
        """The audit trail of an execution: what was delivered, recorded once by event id."""
        once = {event.event_id: event for event in reversed(self.audit_lines(execution_id))}
        return sorted(once.values(), key=lambda event: event.at)

    def open_gate(self, case: str) -> None:
        """Let a handler that waits go on."""
        (self.folder / f"{case}.open").touch()

    def gate_is_open(self, case: str) -> bool:
        """Whether it may."""
        return (self.folder / f"{case}.open").exists()

    @contextmanager
    def _open(self) -> Generator[sqlite3.Connection]:
        connection = sqlite3.connect(self.folder / "ledger.db", timeout=20, isolation_level=None)
        try:
            yield connection
        finally:
            connection.close()
