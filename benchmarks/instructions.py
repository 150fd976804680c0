"""Machine instructions of one `Runtime.invoke`, counted by valgrind: the same on every day.

Counted twice with a different number of calls; the difference leaves out the interpreter's start.
"""

import asyncio
import os
import re
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from .audit import NullSink
from .figures import Figure, Result, Skipped
from .in_process import invocation

FEW: Final = 200
MANY: Final = 1_200
_COLLECTED: Final = re.compile(r"Collected : (\d+)")


async def instructions() -> list[Result]:
    """Counts, where valgrind is installed."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return [Skipped("instructions", "valgrind is not on PATH: install it to count them")]
    few, many = await _collect(valgrind, FEW), await _collect(valgrind, MANY)
    return [
        Figure("instructions", "count", "null sink, JSON", (many - few) / (MANY - FEW), "instr.")
    ]


async def _collect(valgrind: str, calls: int) -> int:
    with TemporaryDirectory() as folder:
        process = await asyncio.create_subprocess_exec(
            valgrind,
            "--tool=callgrind",
            f"--callgrind-out-file={Path(folder) / 'out'}",
            sys.executable,
            "-m",
            __name__,
            str(calls),
            env={**os.environ, "PYTHONHASHSEED": "0"},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        _, errors = await process.communicate()
    found = _COLLECTED.search(errors.decode(errors="replace"))
    if process.returncode or found is None:
        raise RuntimeError(f"valgrind failed:\n{errors.decode(errors='replace')[-2000:]}")
    return int(found.group(1))


async def _subject(calls: int) -> None:
    call = invocation("JSON", NullSink())
    for _ in range(calls):
        await call()


if __name__ == "__main__":
    asyncio.run(_subject(int(sys.argv[1])))
