"""Every guard counts: without it, a test of its guarantee fails (G1 to G11).

`make test` tries the guards whose tests are quick, `make mutations` all of them.
"""

import ast
import builtins
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.mutations.mutation import ROOT, GuardMoved, Mutation, in_file
from tests.mutations.table import MUTATIONS
from tests.mutations.trial import Job, Trial, run_all

pytestmark = [pytest.mark.timeout(1200), pytest.mark.slow]

TRIED = tuple(
    entry for entry in MUTATIONS if not entry.long or os.environ.get("MUTATIONS") == "all"
)

ALL_ON = "all guards are on"

SAMPLE = next(entry for entry in MUTATIONS if entry.guarantee == "G3")
HARMLESS = Mutation(
    "harmless", SAMPLE.guarantee, SAMPLE.module, SAMPLE.guard, SAMPLE.guard, SAMPLE.killers
)
MOVED = Mutation("moved", SAMPLE.guarantee, SAMPLE.module, "not in here", "", SAMPLE.killers)
ELSEWHERE = Mutation(
    "elsewhere", "G3", "temperance.workflows.steps", "explicit in self._taken", "0", SAMPLE.killers
)


def problem_of(trial: Trial) -> str | None:
    """Why a trial does not show that the guard counts; nothing where it does."""
    if trial.broken:
        return f"broken: {trial.broken}"
    if not trial.switched_off:
        return "the guard was on"
    if not trial.failed:
        return f"survived: without the guard {len(trial.passed)} tests pass; write one that fails"
    return None


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Trial]:
    """What becomes of the tests with all guards on, and with each of them off."""
    first_what_waits = sorted(TRIED, key=lambda entry: not entry.hangs)
    off = {entry.name: Job(entry.killers, entry) for entry in first_what_waits}
    controls = {entry.name: Job(entry.killers, entry) for entry in (HARMLESS, MOVED, ELSEWHERE)}
    trials = run_all(off | controls, tmp_path_factory.mktemp("off"))
    failed = tuple(sorted({test for name in off for test in trials[name].failed}))
    return trials | run_all({ALL_ON: Job(failed)}, tmp_path_factory.mktemp("on"))


def test_with_all_guards_on_the_tests_that_failed_pass(trials: Mapping[str, Trial]) -> None:
    """A test that fails anyway would prove nothing."""
    trial = trials[ALL_ON]
    assert not trial.failed | trial.broken, trial.log
    assert set(trial.passed) == {test for entry in TRIED for test in trials[entry.name].failed}


@pytest.mark.parametrize("mutation", TRIED, ids=lambda entry: f"{entry.guarantee}: {entry.name}")
def test_without_its_guard_a_guarantee_fails(
    mutation: Mutation, trials: Mapping[str, Trial]
) -> None:
    """A test that carries its number fails, as a test and not while it is collected."""
    trial = trials[mutation.name]
    assert problem_of(trial) is None, trial.log


@pytest.mark.parametrize(
    ("control", "problem"),
    [
        (HARMLESS, "survived"),
        (MOVED, "GuardMoved"),
        (ELSEWHERE, "the guard was on"),
    ],
    ids=lambda value: value.name if isinstance(value, Mutation) else "",
)
def test_what_shows_nothing_is_told_from_what_shows_that_a_guard_counts(
    control: Mutation, problem: str, trials: Mapping[str, Trial]
) -> None:
    """A change that changes nothing, is never loaded, or is of code that has gone."""
    assert problem in str(problem_of(trials[control.name]))


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda entry: entry.name)
def test_every_guard_is_where_the_table_says(mutation: Mutation) -> None:
    """Also of those that are not tried now; and what stands in its place is code that works.

    A name that is not there would end attempts in INTERNAL_ERROR, and tests would fail for nothing.
    """
    source = (ROOT / mutation.path).read_text()
    assert names_in(mutation.applied_to(source)) - names_in(source) - set(dir(builtins)) == set()


def names_in(source: str) -> set[str]:
    """The names that a module uses, defines or imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.alias):
            names.add(node.name)
    return names


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda entry: entry.name)
def test_every_killer_is_a_test_of_the_guarantee(mutation: Mutation) -> None:
    """It is there, and carries the number."""
    for test in mutation.killers:
        file, _, name = test.partition("::")
        assert name in functions_of(ROOT / file)
        assert name.startswith(f"test_{mutation.guarantee.lower()}_")


def functions_of(file: Path) -> set[str]:
    tree = ast.parse(file.read_text())
    return {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_every_guarantee_has_a_guard_that_is_switched_off() -> None:
    assert {entry.guarantee for entry in TRIED} == {f"G{number}" for number in range(1, 12)}
    assert len({entry.name for entry in MUTATIONS}) == len(MUTATIONS)


def test_a_guard_that_is_there_twice_is_not_switched_off() -> None:
    twice = Mutation("twice", "G1", "temperance.plugin", "x", "y", in_file("none.py", "none"))
    assert twice.path == Path("facade/plugin.py")
    with pytest.raises(GuardMoved, match="2 times"):
        twice.applied_to("x x")
