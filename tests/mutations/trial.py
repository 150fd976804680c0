"""Runs the tests of mutations, each in a process that is forked for it.

They are forked from one process that has pytest and everything else imported, but not the library
itself: each then takes a quarter of a second of the processor, where starting anew takes more than
one.
"""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Final, NoReturn

import pytest

from tests.mutations import switch
from tests.mutations.mutation import ROOT, Mutation

PRELOADED: Final = (
    "_hypothesis_pytestplugin",
    "anyio.pytest_plugin",
    "hypothesis",
    "pydantic",
    "pytest_asyncio.plugin",
    "pytest_timeout",
    "structlog",
    "temporalio.contrib.pydantic",
    "temporalio.testing",
    "temporalio.worker",
)

AT_ONCE: Final = 2
"""How many processes run tests at a time."""

LONGEST: Final = 60
"""Seconds that a test may take."""

HANGING: Final = 10
"""Seconds that a test may take in a mutation that makes tests wait for ever."""

_OPTIONS: Final = (
    *("-q", "-x", "--tb=short", f"--rootdir={ROOT}"),
    *("-p", "no:cacheprovider", "-p", "no:xdist"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # of the plugins that are preloaded
)


_KNOWN: Final = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)


@dataclass(frozen=True, slots=True)
class Job:
    """Tests to run.

    Args:
        tests: Node ids.
        mutation: What is switched off meanwhile.
    """

    tests: tuple[str, ...]
    mutation: Mutation | None = None


@dataclass(slots=True)
class Trial:
    """What became of a job.

    Args:
        failed: What a test said that failed: the first one ends the job.
        passed: Node ids.
        broken: What went wrong beside the tests themselves: in collecting them, in fixtures.
        switched_off: In how many processes the guard was switched off.
        log: The end of what pytest printed.
    """

    failed: dict[str, str] = field(default_factory=dict[str, str])
    passed: list[str] = field(default_factory=list[str])
    broken: dict[str, str] = field(default_factory=dict[str, str])
    switched_off: int = 0
    log: str = ""

    @classmethod
    def read(cls, folder: Path) -> "Trial":
        """What a job left in its folder."""
        written = folder / "trial"
        if not written.exists():
            return cls(broken={"process": "it ended before its tests did"}, log=_end_of(folder))
        return cls(**json.loads(written.read_bytes()))


class _Listener:
    """A pytest plugin that hears what becomes of each test, and ends the process at a failure.

    Without a guard, what a test has started may run for ever: so nothing is waited for. Servers and
    workers end with the process that started them.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._trial = Trial()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._trial.broken[report.nodeid] = str(report.longrepr)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self._trial.passed.append(report.nodeid)
        elif report.when == "call" and report.failed:
            self._trial.failed[report.nodeid] = _said(report)
            self.end()
        elif not report.passed:
            self._trial.broken[report.nodeid] = f"{report.when}: {_said(report)}"

    def end(self, code: int = pytest.ExitCode.TESTS_FAILED) -> NoReturn:
        """Writes what is known."""
        sys.stdout.flush()
        self._trial.log = _end_of(self._folder)
        if code not in _KNOWN:
            self._trial.broken["pytest"] = f"exit {code}: {self._trial.log}"
        self._trial.switched_off = len(set((self._folder / "report").read_text().split()))
        written = self._folder / "trial.part"
        written.write_text(json.dumps(asdict(self._trial)))
        written.rename(self._folder / "trial")
        os._exit(0)


def _said(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(getattr(crash, "message", report.longrepr))


def _end_of(folder: Path) -> str:
    log = folder / "log"
    return log.read_text(errors="replace")[-4000:] if log.exists() else ""


def _run(job: Job, folder: Path) -> NoReturn:
    """Runs a job in this process, which must not have imported the library."""
    folder.mkdir()
    with (folder / "log").open("wb") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    os.chdir(ROOT)
    # What pytest-xdist says to its workers is not for this run.
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        del os.environ[name]
    report = folder / "report"
    report.touch()
    longest = LONGEST
    if job.mutation is not None:
        os.environ |= {switch.MUTATION: job.mutation.to_json(), switch.REPORT: str(report)}
        switch.install()
        longest = HANGING if job.mutation.hangs else LONGEST
    where = (f"--basetemp={folder / 'tmp'}", f"--timeout={longest}")
    listener = _Listener(folder)
    code = pytest.main([*_OPTIONS, *where, *job.tests], plugins=[listener])
    listener.end(code)


def run_all(jobs: Mapping[str, Job], folder: Path) -> dict[str, Trial]:
    """Runs jobs, each in a process of its own.

    Args:
        jobs: By name.
        folder: Where they leave what they write.

    Returns:
        What became of each.
    """
    context = get_context("forkserver")
    context.set_forkserver_preload(list(PRELOADED))
    folders = {name: folder / str(place) for place, name in enumerate(jobs)}
    waiting, running = list(jobs), list[ForkServerProcess]()
    while waiting or running:
        while waiting and len(running) < AT_ONCE:
            name = waiting.pop(0)
            process = context.Process(target=_run, args=(jobs[name], folders[name]))
            process.start()
            running.append(process)
        if not wait([process.sentinel for process in running], timeout=2 * LONGEST):
            running[0].kill()
        running = [process for process in running if process.is_alive()]
    return {name: Trial.read(place) for name, place in folders.items()}
