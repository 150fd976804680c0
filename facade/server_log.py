"""What the server writes: into a file of the user's, or into one that is gone after `stop`."""

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_TAIL_BYTES = 8192


class ServerLog:
    """The output of one embedded server, over all its runs."""

    def __init__(self, path: Path | None) -> None:
        self._given = path
        self._temporary: Path | None = None
        self._run_starts_at = 0

    @property
    def path(self) -> Path | None:
        """Where it is; None while there is none."""
        return self._given or self._temporary

    @contextmanager
    def for_a_run(self) -> Generator[BinaryIO]:
        """The file, open for a new run to append to."""
        path = self.path
        if path is None:
            descriptor, name = tempfile.mkstemp(prefix="temperance-server-", suffix=".log")
            os.close(descriptor)
            path = self._temporary = Path(name)
        with path.open("ab") as file:
            self._run_starts_at = file.tell()
            yield file

    def tail(self, lines: int = 20) -> list[str]:
        """The last lines that the latest run has written."""
        if self.path is None:
            return []
        with self.path.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(self._run_starts_at, end - _TAIL_BYTES))
            return file.read().decode(errors="replace").splitlines()[-lines:]

    def drop(self) -> None:
        """Remove the file, unless it is the user's."""
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)
            self._temporary = None
