"""The lock on a store: one SQLite file, one server.

The server does not notice another one on its file (seen: both start, both dispatch), so temperance
does. The lock is a `flock` on `<file>.lock` whose descriptor the *server* inherits: the kernel
drops it at the moment that the server ends, however it ends, so a lock is never stale. A server
that somebody started by hand takes no such lock; it is seen by the read lock that SQLite keeps on a
file in WAL mode. What neither can see: a hand-started server on a file that was never in WAL mode,
and anything on Windows.
"""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from temperance.server_error import ServerStartFailed, StoreInUse

if sys.platform != "win32":
    import fcntl

# Where SQLite keeps its SHARED lock: "File Locking And Concurrency In SQLite Version 3", os.h.
_SHARED_FIRST = 0x4000_0002
_SHARED_SIZE = 510


@dataclass(frozen=True, slots=True)
class StoreLock:
    """A lock that is held as long as any process has `descriptor` open."""

    descriptor: int

    def sign(self, holder: str) -> None:
        """Say who holds it, for the message of the next one who asks."""
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, holder.encode(), 0)


@contextmanager
def store_lock(db_path: Path) -> Generator[StoreLock | None]:
    """Lock the store for a server about to start; after this block the server alone holds it.

    Gives None where the platform has no such locks.

    Raises:
        StoreInUse: another server has the store open.
        ServerStartFailed: the lock file cannot be made, say because its folder is missing.
    """
    if sys.platform == "win32":
        yield None
        return
    lock_path = db_path.with_name(f"{db_path.name}.lock")
    try:
        descriptor = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise ServerStartFailed(
            f"cannot keep a store at {db_path}: {error.strerror}; "
            f"make the folder and its files writable, or choose another place"
        ) from error
    try:
        _take(descriptor, db_path)
        yield StoreLock(descriptor)
    finally:
        os.close(descriptor)


def _take(descriptor: int, db_path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 200, 0).decode(errors="replace") or "it is just starting"
        raise StoreInUse(_in_use(db_path, holder)) from None
    os.ftruncate(descriptor, 0)
    if not db_path.exists():
        return
    with db_path.open("r+b") as store:
        try:
            fcntl.lockf(store, fcntl.LOCK_EX | fcntl.LOCK_NB, _SHARED_SIZE, _SHARED_FIRST)
        except OSError:
            raise StoreInUse(_in_use(db_path, "not started by temperance")) from None


def _in_use(db_path: Path, holder: str) -> str:
    return (
        f"{db_path} is in use by another server ({holder}); stop that one, or choose another file"
    )
