"""SQLite as several processes share it: a connection per use, write-ahead log, writers in a queue.

A connection is never kept: handlers run in threads and in worker processes that may be killed at
any moment, and a connection of an operation's own leaves nothing behind but what it committed.
"""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

BUSY_SECONDS = 10.0
"""How long an operation waits for another process's write before it gives up."""


def create(path: Path, schema: str) -> None:
    """Creates the file with its tables, and switches it to the write-ahead log for good."""
    with closing(_connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(schema)


@contextmanager
def reading(path: Path) -> Generator[sqlite3.Connection]:
    """A connection for reads that need not agree with each other."""
    with closing(_connect(path)) as db:
        yield db


@contextmanager
def writing(path: Path) -> Generator[sqlite3.Connection]:
    """One transaction, committed at the end of the block and undone where the block raises.

    It takes the write lock at once (`BEGIN IMMEDIATE`): what the block reads cannot be changed by
    another process before the block has written.
    """
    with closing(_connect(path)) as db:
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")


def _connect(path: Path) -> sqlite3.Connection:
    if not path.parent.is_dir():
        raise FileNotFoundError(f"no folder for the database: {path.parent}")
    db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA foreign_keys = ON")
    db.execute("PRAGMA synchronous = NORMAL")
    return db
