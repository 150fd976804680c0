"""The `temperance` command in a process of its own, as a shell runs it."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from tests.support.waiting import wait_until

APPS = Path(__file__).parents[1] / "facade" / "cli_apps"
"""Where the commands run: modules there are named on the command line."""

_SETTINGS = ("TEMPORAL_", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "PYTHONPATH")


@dataclass(frozen=True)
class Ran:
    """A command that has ended."""

    code: int
    out: str
    err: str


class Running:
    """A command that runs; its two outputs go to files."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path) -> None:
        self._process = process
        self._folder = folder

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def out(self) -> str:
        """What it has written to standard output."""
        return (self._folder / "out").read_text()

    def err(self) -> str:
        """What it has written to standard error."""
        return (self._folder / "err").read_text()

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    async def until(self, path: Path) -> None:
        """Wait until it has made the file."""
        await self._until(path.exists)

    async def until_err(self, text: str) -> None:
        """Wait until standard error has the text."""
        await self._until(lambda: text in self.err())

    async def _until(self, condition: Callable[[], bool]) -> None:
        async def holds() -> bool:
            # Asked before: what it did before it ended still counts.
            ended = self._process.returncode
            if not condition() and ended is not None:
                raise AssertionError(f"it ended ({ended}) before:\n{self.err()}")
            return condition()

        await wait_until(holds)

    async def end(self, timeout: timedelta = timedelta(seconds=30)) -> Ran:
        """Wait until it has ended."""
        async with asyncio.timeout(timeout.total_seconds()):
            code = await self._process.wait()
        return Ran(code, self.out(), self.err())


@asynccontextmanager
async def command(
    *arguments: str,
    folder: Path,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
    program: tuple[str, ...] = ("-m", "temperance.cli"),
    cwd: Path = APPS,
) -> AsyncGenerator[Running]:
    """Start `temperance ARGUMENTS`, in `APPS` unless told; nothing of it is left at the end.

    Its environment has no setting of Temporal and no color switch but for those in `env`, and no
    folder on sys.path but what Python itself puts there.
    """
    kept = {key: value for key, value in os.environ.items() if not key.startswith(_SETTINGS)}
    out_path, err_path = _outputs(folder)
    with out_path.open("wb") as out, err_path.open("wb") as err:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *program,
            *arguments,
            cwd=cwd,
            env={**kept, "PYTHONSAFEPATH": "1", "PYTHONUNBUFFERED": "1", **(env or {})},
            stdin=asyncio.subprocess.DEVNULL if stdin is None else asyncio.subprocess.PIPE,
            stdout=out,
            stderr=err,
        )
    if stdin is not None and process.stdin is not None:
        process.stdin.write(stdin)
        process.stdin.close()
    try:
        yield Running(process, folder)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def _outputs(folder: Path) -> tuple[Path, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "out", folder / "err"


async def run(
    *arguments: str,
    folder: Path,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path = APPS,
) -> Ran:
    """Run `temperance ARGUMENTS` to its end."""
    async with command(*arguments, folder=folder, stdin=stdin, env=env, cwd=cwd) as running:
        return await running.end()
