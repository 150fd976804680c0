"""A small chaos run (G1 to G5, G11); `make chaos` is the large one."""

import os
from pathlib import Path

import pytest

from tests.chaos.report import table
from tests.chaos.run import Run, run

# A fixed seed: what a change breaks, the same run shows again.
SEED = int(os.environ.get("CHAOS_SEED") or 4)
EXECUTIONS = 60


@pytest.mark.chaos
@pytest.mark.slow
@pytest.mark.timeout(300)  # a backstop: on a busy machine new workers take long to start
async def test_g1_g2_g3_g5_g11_hold_in_a_storm(tmp_path: Path) -> None:
    """Workers die, stand still and are replaced; the server is killed; workflows are rewound."""
    ended = await run(Run(tmp_path, SEED, EXECUTIONS, every=0.5))
    assert not any(ended.failures.values()), table(ended)
    assert ended.deaths
    assert sum(ended.deeds.blows.values()) > 3
