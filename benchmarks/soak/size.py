"""How big a process is, as the operating system says."""

import os
import subprocess
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")


def resident_mib(pid: int) -> float:
    """Resident memory of a process in MiB; from ``ps`` where there is no ``/proc``."""
    status = _PROC / str(pid) / "status"
    if status.exists():
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        return int(fields["VmRSS"].split()[0]) / 1024
    answer = subprocess.run(
        ["/bin/ps", "-o", "rss=", "-p", str(pid)],
        capture_output=True,
        check=True,
        text=True,
    )
    return int(answer.stdout) / 1024


def open_files(pid: int) -> int | None:
    """How many file descriptors a process has open; ``None`` where there is no ``/proc``."""
    folder = _PROC / str(pid) / "fd"
    return len(os.listdir(folder)) if folder.exists() else None  # noqa: PTH208 - names suffice


def stored_mib(database: Path) -> float:
    """Size of a SQLite file with the files beside it, in MiB."""
    return sum(path.stat().st_size for path in database.parent.glob(f"{database.name}*")) / 2**20
