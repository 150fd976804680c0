"""What the handlers of a test really did, in a SQLite file that outlives workers."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_COLUMNS = "label, key, execution_id, run_id, activity_id, attempt, repeat_of"


@dataclass(frozen=True, slots=True)
class Entry:
    """A handler was entered, and the effect that nothing deduplicates was taken."""

    label: str
    key: str
    execution_id: str
    run_id: str
    activity_id: str
    attempt: int
    repeat_of: str | None


class Books:
    """The ledger of one test, in its folder; several processes may write in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with self._open() as connection:
            connection.execute(f"CREATE TABLE IF NOT EXISTS entries ({_COLUMNS})")

    @property
    def audit_path(self) -> Path:
        """Where worker processes write the audit trail."""
        return self.folder / "audit.jsonl"

    def enter(self, entry: Entry) -> None:
        """Write an entry, before the handler does anything else."""
        row = (
            *(entry.label, entry.key, entry.execution_id, entry.run_id, entry.activity_id),
            *(entry.attempt, entry.repeat_of),
        )
        with self._open() as connection:
            connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def entries(self, label: str | None = None) -> list[Entry]:
        """The entries under a label, or all, in their order."""
        with self._open() as connection:
            rows = connection.execute("SELECT * FROM entries ORDER BY rowid").fetchall()
        return [entry for entry in (Entry(*row) for row in rows) if label in (None, entry.label)]

    def keys(self, label: str) -> list[str]:
        """The keys that the handler saw under a label."""
        return [entry.key for entry in self.entries(label)]

    def open_gate(self, label: str) -> None:
        """Let the handlers that wait under this label go on."""
        (self.folder / f"{label}.open").touch()

    def is_open(self, label: str) -> bool:
        """Whether they may."""
        return (self.folder / f"{label}.open").exists()

    @contextmanager
    def _open(self) -> Generator[sqlite3.Connection]:
        connection = sqlite3.connect(self.folder / "books.db", timeout=20, isolation_level=None)
        try:
            yield connection
        finally:
            connection.close()
