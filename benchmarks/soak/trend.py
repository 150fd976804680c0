"""Whether figures grow: the median of the slopes between all pairs of them (Theil and Sen).

One sample that is far off, as after a pause of the machine, hardly moves it.
"""

from collections.abc import Sequence
from itertools import combinations
from statistics import median


def slope(points: Sequence[tuple[float, float]]) -> float:
    """How much a figure grows for each unit of time.

    Args:
        points: Time and figure.

    Returns:
        The slope; 0 where there are fewer than two points.
    """
    slopes = [
        (later[1] - earlier[1]) / (later[0] - earlier[0])
        for earlier, later in combinations(points, 2)
        if later[0] != earlier[0]
    ]
    return median(slopes) if slopes else 0.0
