"""What the samples say: how each figure grew, and how much it may."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from .sampling import Sample
from .trend import slope


@dataclass(frozen=True)
class Row:
    """One figure under load.

    Args:
        name: What it is.
        unit: Of the figures; the growth is in that much per hour.
        early: Its median over the second quarter: the first is for warming up.
        late: Its median over the last quarter.
        growth: Its trend over the second half, per hour.
        bound: How much it may grow per hour; ``None`` where it is only told, or where the run was
            too short to judge.
    """

    name: str
    unit: str
    early: float
    late: float
    growth: float
    bound: float | None

    @property
    def flat(self) -> bool | None:
        """Whether it stays within its bound; ``None`` where it has none."""
        return None if self.bound is None else self.growth <= self.bound


@dataclass(frozen=True)
class Rest:
    """One figure at two moments without load: after a third of the run, and after all of it.

    Args:
        name: What it is.
        first: After a third.
        last: At the end.
        bound: How much more it may be at the end; ``None`` where it is only told.
    """

    name: str
    first: float
    last: float
    bound: float | None

    @property
    def flat(self) -> bool | None:
        """Whether it stayed within its bound; ``None`` where it has none."""
        return None if self.bound is None else self.last - self.first <= self.bound


SHORTEST: Final = 600.0
"""Seconds: before that, everything still warms up."""

Figure = Callable[[Sample], float]

# What may grow by the hour. A leak of 60 bytes for each execution of this load would be 10 MiB.
_ROWS: Final[Sequence[tuple[str, str, Figure, float | None]]] = (
    ("worker memory", "MiB", lambda s: s.worker_mib, None),
    ("control memory", "MiB", lambda s: s.plain_mib, None),
    ("worker beyond control", "MiB", lambda s: s.worker_mib - s.plain_mib, 8.0),
    ("worker asyncio tasks", "", lambda s: s.tasks, 20.0),
    ("worker threads, pools aside", "", lambda s: s.threads, 2.0),
    # As many as were ever busy at once, see `benchmarks.soak.worker.POOLS`.
    ("worker threads in pools", "", lambda s: s.pooled, None),
    ("worker objects", "", lambda s: s.objects, 10_000.0),
    ("worker open files", "", lambda s: s.files, 2.0),
    ("entries in the library's caches", "", lambda s: s.cached, None),
    ("server memory", "MiB", lambda s: s.server_mib, None),
    ("server open files", "", lambda s: s.server_files, None),
    ("database on disk", "MiB", lambda s: s.stored_mib, None),
)

# A thread or a task that is left over by every so-manyth execution would be thousands here.
_RESTS: Final[Sequence[tuple[str, Figure, float | None]]] = (
    ("worker asyncio tasks", lambda s: s.tasks, 0),
    ("worker threads, pools aside", lambda s: s.threads, 0),
    ("worker threads in pools", lambda s: s.pooled, None),
    ("worker objects", lambda s: s.objects, 2_000),
    ("worker open files", lambda s: s.files, 0),
    ("entries in the library's caches", lambda s: s.cached, None),
)


def rows_of(samples: Sequence[Sample]) -> list[Row]:
    """One row for each figure under load.

    Args:
        samples: In the order in which they were taken; at least eight.

    Raises:
        ValueError: There are too few.
    """
    if len(samples) < 8:
        raise ValueError(f"{len(samples)} samples say nothing of a trend: let it run longer")
    quarter = len(samples) // 4
    half = samples[len(samples) // 2 :]
    judged = is_judged(samples)
    return [
        Row(
            name=name,
            unit=unit,
            early=median(figure(sample) for sample in samples[quarter : 2 * quarter]),
            late=median(figure(sample) for sample in samples[-quarter:]),
            growth=slope([(sample.seconds / 3600, figure(sample)) for sample in half]),
            bound=bound if judged else None,
        )
        for name, unit, figure, bound in _ROWS
    ]


def rests_of(samples: Sequence[Sample], rests: Sequence[Sample]) -> list[Rest]:
    """One row for each figure without load.

    Args:
        samples: Those under load.
        rests: The two without.
    """
    first, last = rests
    judged = is_judged(samples)
    return [
        Rest(name, figure(first), figure(last), bound if judged else None)
        for name, figure, bound in _RESTS
    ]


def is_judged(samples: Sequence[Sample]) -> bool:
    """Whether the run was long enough to say that something grows."""
    return samples[-1].seconds >= SHORTEST
