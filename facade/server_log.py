"""What the server writes: into a file of the user's, or into one without a name."""

import os
import tempfile
from pathlib import Path
from typing import BinaryIO

_TAIL_BYTES = 8192


class ServerLog:
    """The output of one embedded server, over all its runs.

    Without a path it is an unnamed file, which the system removes however this process ends.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._file: BinaryIO | None = None
        self._run_starts_at = 0

    def open_for_a_run(self) -> BinaryIO:
        """The file, for a new run to append to."""
        if self._file is None:
            self._file = (
                tempfile.TemporaryFile() if self.path is None else self.path.open("ab+")  # noqa: SIM115 - closed by `close`
            )
        self._run_starts_at = os.fstat(self._file.fileno()).st_size
        return self._file

    def tail(self, lines: int = 20) -> list[str]:
        """The last lines that the latest run has written."""
        if self._file is None:
            return []
        descriptor = self._file.fileno()
        start = max(self._run_starts_at, os.fstat(descriptor).st_size - _TAIL_BYTES)
        # Never by seeking: the server writes at the same position in the file.
        written = os.pread(descriptor, _TAIL_BYTES, start)
        return written.decode(errors="replace").splitlines()[-lines:]

    def close(self) -> None:
        """Let go of the file; the next run opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None
