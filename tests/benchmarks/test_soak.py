"""What the soak makes of its samples; the soak itself is run by hand."""

from dataclasses import replace

import pytest
from click.testing import CliRunner

from benchmarks.soak.__main__ import main
from benchmarks.soak.sampling import Sample
from benchmarks.soak.trend import slope
from benchmarks.soak.verdict import rows_of

STILL = Sample(
    seconds=0,
    worker_mib=80,
    plain_mib=70,
    tasks=9,
    threads=6,
    objects=70_000,
    files=17,
    server_mib=220,
    server_files=33,
    stored_mib=10,
    events=0,
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
    worker = next(row for row in rows_of(taken) if row.name == "worker beyond control")
    assert worker.flat is flat


def test_the_growth_is_told_by_the_hour() -> None:
    worker = rows_of(samples(30, growth=1))[0]
    assert worker.growth == pytest.approx(60)
    assert worker.early < worker.late


def test_a_few_samples_are_no_trend() -> None:
    with pytest.raises(ValueError, match="7 samples"):
        rows_of(samples(6))
    assert slope([(1, 1)]) == 0


def test_the_soak_tells_what_it_takes() -> None:
    told = CliRunner().invoke(main, ["--help"])
    assert told.exit_code == 0
    assert "Exit code" in told.output
    assert CliRunner().invoke(main, ["--minutes", "0"]).exit_code == 2
