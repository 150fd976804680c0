"""What a benchmark comes to: figures, some of them with a budget (DESIGN section 12)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Final

NOISE: Final = 0.03
"""How far two equal arms may be apart; beyond it a run claims nothing about what it compares."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number.

    Args:
        benchmark: Which benchmark it comes from.
        name: What was measured.
        arm: Of which arm, or of which against which.
        value: How much.
        unit: Of what; ``x`` for a ratio.
        low: Lower quartile over the blocks of the run, where there are some.
        high: Upper quartile.
        budget: The most it may be, where DESIGN section 12 says so.
        claimed: Whether the run was quiet enough to say anything about it.
    """

    benchmark: str
    name: str
    arm: str
    value: float
    unit: str
    low: float | None = None
    high: float | None = None
    budget: float | None = None
    claimed: bool = True

    @property
    def over(self) -> bool:
        """Whether a budget is exceeded, as far as the run can tell."""
        return self.claimed and self.budget is not None and self.value > self.budget


@dataclass(frozen=True, slots=True)
class Skipped:
    """A benchmark that could not be run here.

    Args:
        benchmark: Which.
        reason: Why, and what to do about it.
    """

    benchmark: str
    reason: str


Result = Figure | Skipped


def summary(
    benchmark: str,
    name: str,
    arm: str,
    unit: str,
    values: Sequence[float],
    *,
    budget: float | None = None,
    claimed: bool = True,
) -> Figure:
    """The median over the blocks of a run, with its quartiles."""
    low, _, high = quantiles(values, n=4) if len(values) > 1 else (None, None, None)
    return Figure(benchmark, name, arm, median(values), unit, low, high, budget, claimed)


def compare(
    benchmark: str,
    what: str,
    unit: str,
    blocks: Sequence[Mapping[str, float]],
    *,
    base: tuple[str, str],
    beside: str | None = None,
    budget: float | None = None,
) -> list[Figure]:
    """Compares arms block by block, so that what drifts over a run falls upon all alike.

    Args:
        benchmark: Which benchmark it is for.
        what: What was measured.
        unit: Its unit.
        blocks: For each block the measure of each arm.
        base: The two equal arms; the others are compared with their mean.
        beside: A further arm that the others are compared with.
        budget: The most that the ratio of another arm may be.

    Returns:
        The measure of each arm, the ratio of the two equal arms, and those of each other one. Where
        the equal ones are more than 3 per cent apart, the ratios are not claimed.
    """
    first, second = base

    def ratios(
        name: str, of: str, to: Sequence[str], budget: float | None = None, claimed: bool = True
    ) -> Figure:
        values = [block[of] * len(to) / sum(block[arm] for arm in to) for block in blocks]
        return summary(
            benchmark, what, f"{of} / {name}", "x", values, budget=budget, claimed=claimed
        )

    equal = ratios(first, second, [first])
    claimed = abs(equal.value - 1) <= NOISE
    figures = [
        summary(benchmark, what, arm, unit, [block[arm] for block in blocks]) for arm in blocks[0]
    ]
    figures.append(equal)
    for arm in blocks[0]:
        if arm in base or arm == beside:
            continue
        figures.append(ratios(first, arm, base, budget=budget, claimed=claimed))
        if beside is not None:
            figures.append(ratios(beside, arm, [beside], budget=budget, claimed=claimed))
    return figures


def trimmed_mean(values: Sequence[float], part: float = 0.1) -> float:
    """The mean without the least and the greatest tenth: a pause of the machine is not a cost."""
    cut = int(len(values) * part)
    kept = sorted(values)[cut : len(values) - cut]
    return sum(kept) / len(kept)
