"""The lock on a store: one SQLite file, one server.

The server does not notice another one on its file (seen: both start and serve), so temperance
does. The lock is a `flock` on `<file>.lock` whose descriptor the *server* inherits: the kernel
drops it at the moment that the server ends, however it ends, so a lock is never stale. A server
that somebody started by hand takes no such lock; it is seen by the read lock that SQLite keeps on a
file in WAL mode. What neither can see: a hand-started server on a file that was never in WAL mode.
"""

import os
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
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
        """Say who holds it, once, for the message of the next one who asks."""
        os.write(self.descriptor, holder.encode())


@contextmanager
def store_lock(db_path: Path) -> Generator[StoreLock]:
    """Lock the store for a server about to start; after this block the server alone holds it.

    Raises:
        StoreInUse: another server has the store open.
        ServerStartFailed: the store cannot be written, say because its folder is missing.
    """
    with ExitStack() as opened:
        try:
            lock = opened.enter_context(db_path.with_name(f"{db_path.name}.lock").open("a+b"))
            store = opened.enter_context(db_path.open("r+b")) if db_path.exists() else None
        except OSError as error:
            raise ServerStartFailed(
                f"cannot keep a store at {db_path}: {error.strerror}; "
                f"make the folder and its files writable, or choose another place"
            ) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(lock.fileno(), 200, 0).decode(errors="replace")
            raise StoreInUse(_in_use(db_path, holder or "it is just starting")) from None
        lock.truncate(0)
        if store is not None:
            try:
                fcntl.lockf(store, fcntl.LOCK_EX | fcntl.LOCK_NB, _SHARED_SIZE, _SHARED_FIRST)
            except OSError:
                raise StoreInUse(_in_use(db_path, "not started by temperance")) from None
            # Closed before the server opens it, and with it the lock just taken.
            store.close()
        yield StoreLock(lock.fileno())


def _in_use(db_path: Path, holder: str) -> str:
    return (
        f"{db_path} is in use by another server ({holder}); stop that one, or choose another file"
    )
