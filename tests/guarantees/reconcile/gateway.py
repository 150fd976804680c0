"""The gateway that takes the money, and what was asked of it: a SQLite file of the test's own."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_TABLES = """
CREATE TABLE IF NOT EXISTS charges (label TEXT NOT NULL, key TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS entries (label TEXT NOT NULL, key TEXT NOT NULL, attempt INTEGER);
CREATE TABLE IF NOT EXISTS questions (label TEXT NOT NULL, key TEXT NOT NULL);
"""


class Gateway:
    """One file; several processes write in it. Nothing in it refuses a second charge."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with self._open() as connection:
            connection.executescript(_TABLES)

    @property
    def audit_path(self) -> Path:
        """Where workers write the audit trail."""
        return self.folder / "audit.jsonl"

    def enter(self, label: str, key: str, attempt: int) -> None:
        """Note that the handler was entered."""
        with self._open() as connection:
            connection.execute("INSERT INTO entries VALUES (?, ?, ?)", (label, key, attempt))

    def charge(self, label: str, key: str) -> None:
        """The effect."""
        with self._open() as connection:
            connection.execute("INSERT INTO charges VALUES (?, ?)", (label, key))

    def ask(self, label: str, key: str) -> int:
        """Note a question; gives how many there were."""
        with self._open() as connection:
            connection.execute("INSERT INTO questions VALUES (?, ?)", (label, key))
        return len(self.questions(label))

    def charges(self, label: str) -> list[str]:
        """The keys under which money moved."""
        return self._column("SELECT key FROM charges WHERE label = ?", label)

    def questions(self, label: str) -> list[str]:
        """The keys that were asked about."""
        return self._column("SELECT key FROM questions WHERE label = ?", label)

    def entries(self, label: str) -> list[str]:
        """The key of each time that the handler was entered."""
        return self._column("SELECT key FROM entries WHERE label = ?", label)

    def attempts(self, label: str) -> list[int]:
        """The attempts that the handler was entered for."""
        with self._open() as connection:
            rows = connection.execute("SELECT attempt FROM entries WHERE label = ?", (label,))
            return [int(row[0]) for row in rows]

    def _column(self, query: str, label: str) -> list[str]:
        with self._open() as connection:
            return [str(row[0]) for row in connection.execute(query, (label,))]

    @contextmanager
    def _open(self) -> Generator[sqlite3.Connection]:
        connection = sqlite3.connect(self.folder / "gateway.sqlite", timeout=30)
        try:
            with connection:
                yield connection
        finally:
            connection.close()
