"""The benchmark against other agent plugins, as far as it goes without them."""

from importlib.util import find_spec

import pytest
from click.testing import CliRunner

from benchmarks.peers.__main__ import main
from benchmarks.peers.tool import EFFECTS, asks_for, settle


@pytest.mark.skipif(find_spec("pydantic_ai") is not None, reason="the peers are installed")
def test_without_the_peers_one_line_says_what_to_run() -> None:
    told = CliRunner().invoke(main, [])
    assert told.exit_code == 1
    assert told.output.count("\n") == 1
    assert "make bench-peers" in told.output


def test_the_script_asks_for_each_order_once_and_ends() -> None:
    asked = [asks_for("o 3", answered) for answered in range(4)]
    assert asked == ["o-0", "o-1", "o-2", None]


async def test_a_flaky_order_takes_effect_before_it_fails() -> None:
    for _ in range(2):
        with pytest.raises(ConnectionError):
            await settle("flaky-1")
    assert (await settle("flaky-1")).cents == 1250
    assert EFFECTS["flaky-1"] == 3
