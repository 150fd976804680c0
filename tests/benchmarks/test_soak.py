"""What the soak makes of its samples; the soak itself is run by hand."""

import gc
from dataclasses import replace

import pytest
from click.testing import CliRunner

from benchmarks.soak.__main__ import main
from benchmarks.soak.report import Soaked, as_json, as_markdown
from benchmarks.soak.sampling import Sample
from benchmarks.soak.trend import slope
from benchmarks.soak.verdict import rests_of, rows_of
from benchmarks.soak.worker import entries
from temperance.runtime.actor import actor_of

STILL = Sample(
    seconds=0,
    worker_mib=80,
    plain_mib=70,
    tasks=9,
    threads=5,
    pooled=2,
    objects=70_000,
    cached=300,
    files=17,
    server_mib=220,
    server_files=33,
    stored_mib=10,
    events=0,
    runs=0,
    open=3,
)


def samples(minutes: int, growth: float = 0, spike: float = 0) -> list[Sample]:
    """One a minute; the worker grows by so many MiB in each, and is once as much bigger."""
    return [
        replace(
            STILL,
            seconds=60.0 * n,
            worker_mib=80 + growth * n + (spike if n == minutes - 2 else 0),
        )
        for n in range(minutes + 1)
    ]


@pytest.mark.parametrize(
    ("taken", "flat"),
    [
        (samples(30), True),
        (samples(30, growth=0.1), True),
        (samples(30, growth=1), False),
        (samples(30, spike=500), True),
        (samples(9, growth=1), None),
    ],
    ids=["still", "slow", "leak", "one spike", "too short to say"],
)
def test_a_worker_that_grows_is_told_from_one_that_does_not(
    taken: list[Sample], flat: bool | None
) -> None:
    """Beyond what the control grows by; one sample that is far off says nothing."""
    worker = next(row for row in rows_of(taken) if row.name == "worker beyond control")
    assert worker.flat is flat


def test_what_the_control_grows_by_too_is_not_the_librarys() -> None:
    """The SDK's and Python's own growth is told, and not held against the library."""
    taken = [replace(sample, plain_mib=sample.worker_mib - 10) for sample in samples(30, growth=1)]
    assert not Soaked(samples=taken, rests=[STILL, STILL]).grows


@pytest.mark.parametrize(
    ("left", "grows"),
    [
        (STILL, False),
        (replace(STILL, tasks=10), True),
        (replace(STILL, threads=6), True),
        (replace(STILL, files=18), True),
        (replace(STILL, objects=73_000), True),
        (replace(STILL, objects=70_100, pooled=9, cached=3_072), False),
    ],
    ids=["nothing", "a task", "a thread", "a file", "objects", "what is bounded otherwise"],
)
def test_without_load_one_task_or_thread_too_many_is_a_leak(left: Sample, grows: bool) -> None:
    """What is compared is the worker at rest, after a third of the run and at its end."""
    soaked = Soaked(samples=samples(30), rests=[STILL, left])
    assert soaked.grows is grows
    short = rests_of(samples(9), [STILL, left])
    assert {rest.flat for rest in short} == {None}


def test_the_growth_is_told_by_the_hour() -> None:
    """A slope by Theil and Sen, and medians of two quarters."""
    worker = rows_of(samples(30, growth=1))[0]
    assert worker.growth == pytest.approx(60)
    assert worker.early < worker.late


def test_a_few_samples_are_no_trend() -> None:
    """Seven are refused, and one has no slope."""
    with pytest.raises(ValueError, match="7 samples"):
        rows_of(samples(6))
    assert slope([(1, 1)]) == 0


def test_the_database_is_told_by_workflow_run() -> None:
    """Over the second half: the first pages of an empty database are not a run's."""
    taken = [
        replace(sample, stored_mib=10 + n, runs=64 * n) for n, sample in enumerate(samples(30))
    ]
    assert Soaked(samples=taken).bytes_stored == 2**20 / 64
    assert Soaked(samples=samples(30)).bytes_stored == 0


def test_the_report_says_what_grew() -> None:
    """As a page and as JSON."""
    soaked = Soaked(samples=samples(30, growth=1), rests=[STILL, STILL])
    page = as_markdown(soaked)
    assert "| worker beyond control | 20.0 MiB | 37.0 MiB | +60.0 MiB | 8 MiB | GROWS |" in page
    assert "| worker asyncio tasks | 9 | 9 | 0 | flat |" in page
    assert '"bytes stored for each workflow run": 0' in as_json(soaked)


def test_the_entries_of_the_librarys_caches_are_counted() -> None:
    """Whichever caches it has: they are found among all objects."""
    actor_of("user", "soaked")
    before = sum(map(entries, gc.get_objects()))
    actor_of("user", f"soaked-{before}")
    assert sum(map(entries, gc.get_objects())) == before + 1


def test_the_soak_tells_what_it_takes() -> None:
    """Help says how it ends; a wrong command line ends with 2."""
    told = CliRunner().invoke(main, ["--help"])
    assert told.exit_code == 0
    assert "Exit code" in told.output
    assert CliRunner().invoke(main, ["--minutes", "0"]).exit_code == 2
