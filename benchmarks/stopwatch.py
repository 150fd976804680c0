"""Takes the time of each step inside a workflow, and the processor time of its worker meanwhile.

Workflow code may not look at a clock. This module passes the sandbox for that one purpose: what it
reads never flows back into the workflow. Processor time is that of the whole process, the SDK's own
threads included, so it belongs to a step only while nothing else runs in the worker.
"""

from dataclasses import dataclass
from time import perf_counter_ns, process_time_ns


@dataclass(slots=True)
class Lap:
    """One step.

    Args:
        arm: Which way of doing it.
        wall_ns: How long it took.
        cpu_ns: Processor time of the whole worker meanwhile.
    """

    arm: str
    wall_ns: int
    cpu_ns: int


_laps: list[Lap] = []


def now() -> tuple[int, int]:
    """Wall clock and processor clock, in nanoseconds."""
    return perf_counter_ns(), process_time_ns()


def lap(arm: str, since: tuple[int, int]) -> None:
    """Notes a step that ends now."""
    wall, cpu = now()
    _laps.append(Lap(arm, wall - since[0], cpu - since[1]))


def take_laps() -> list[Lap]:
    """The steps noted since the last call."""
    taken = _laps.copy()
    _laps.clear()
    return taken
