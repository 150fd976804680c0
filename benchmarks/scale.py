"""How much is measured."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Scale:
    """Sizes of a run.

    Args:
        blocks: Workflows of the sequential benchmark.
        rounds: Rounds in each of them; each arm runs once in a round.
        batches: Batches of the concurrent benchmark, for each arm.
        each: Activities in each of its 50 workflows.
        calls: Calls in process, in each block.
        series: Blocks in process, and of starts.
        cold_calls: Calls in process with empty caches, of each arm.
        executions: Executions in the history that is replayed.
        replays: How often it is replayed.
        starts: Workflows started in each block.
    """

    blocks: int
    rounds: int
    batches: int
    each: int
    calls: int
    series: int
    cold_calls: int
    executions: int
    replays: int
    starts: int


FULL: Final = Scale(
    blocks=20,
    rounds=60,
    batches=8,
    each=10,
    calls=2_000,
    series=25,
    cold_calls=200,
    executions=2_000,
    replays=7,
    starts=20,
)
QUICK: Final = Scale(
    blocks=5,
    rounds=20,
    batches=2,
    each=4,
    calls=1_000,
    series=7,
    cold_calls=40,
    executions=200,
    replays=3,
    starts=10,
)
