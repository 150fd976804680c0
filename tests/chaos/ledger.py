"""What the handlers of a chaos run really did: a SQLite file that only they write.

Each handler writes a row when it is entered, and another one, in the same file, as its effect. Both
are committed before it goes on, so a process that dies leaves what it had done.
"""

import os
import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Phase = Literal["entered", "effect"]

_COLUMNS = "phase, key, execution_id, capability, workflow_id, run_id, activity_id, attempt, job"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the ledger.

    Args:
        phase: Whether the handler was entered, or took its effect.
        key: The idempotency key that it was given.
        execution_id: The execution that it was told it belongs to.
        capability: Its capability.
        workflow_id: Of the workflow (of a standalone request: the request's id).
        run_id: The run that scheduled it.
        activity_id: The step.
        attempt: Number of the attempt.
        job: Number of the job in the plan of the run.
        pid: The worker process; 0 when written by none.
        at: Unix time in seconds.
    """

    phase: Phase
    key: str
    execution_id: str
    capability: str
    workflow_id: str
    run_id: str
    activity_id: str
    attempt: int
    job: int
    pid: int = 0
    at: float = 0.0


class Ledger:
    """The ledger of one run; several processes and threads write in it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def create(self) -> None:
        """Make the file, before anybody writes."""
        with self._open() as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(f"CREATE TABLE IF NOT EXISTS rows ({_COLUMNS}, pid, at)")

    def write(self, row: Row, *, die_before_commit: bool = False) -> None:
        """Write one row. With `die_before_commit` the process ends inside the transaction."""
        values = (
            *(row.phase, row.key, row.execution_id, row.capability, row.workflow_id),
            *(row.run_id, row.activity_id, row.attempt, row.job, os.getpid(), time.time()),
        )
        marks = ", ".join("?" * len(values))
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"INSERT INTO rows VALUES ({marks})", values)  # noqa: S608 - only question marks
            if die_before_commit:
                os._exit(9)
            connection.execute("COMMIT")

    def rows(self, phase: Phase | None = None) -> list[Row]:
        """The rows in the order in which they were committed."""
        with self._open() as connection:
            found = connection.execute("SELECT * FROM rows ORDER BY rowid").fetchall()
        rows = [_row(entry) for entry in found]
        return [row for row in rows if phase in (None, row.phase)]

    @contextmanager
    def _open(self) -> Generator[sqlite3.Connection]:
        connection = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        try:
            # It must survive processes, not a loss of power.
            connection.execute("PRAGMA synchronous=OFF")
            yield connection
        finally:
            connection.close()


def _row(entry: tuple[Any, ...]) -> Row:
    # Columns have the types of what `write` put in.
    return Row(**dict(zip((*_COLUMNS.split(", "), "pid", "at"), entry, strict=True)))
