"""The benchmark against other agent plugins: what it says without them, and what it finds with."""

import json
import os
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from itertools import pairwise, permutations
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.peers import tool
from benchmarks.peers.__main__ import main
from benchmarks.peers.arms import WORKFLOWS
from benchmarks.peers.measure import turns
from benchmarks.peers.tool import EFFECTS, asks_for, keys_of, settle

ROOT = Path(__file__).parents[2]
PEERS_PYTHON = Path(f"{sys.prefix}-peers") / "bin" / "python"
"""Where `make bench-peers` puts its environment: beside this one."""

FACTS = {
    "attempts at a tool call, by default": ["1", "1", "no limit", "no limit"],
    "effects of a write that fails after it": [
        "1; the run goes on",
        "1; the run goes on",
        "3; the run goes on",
        "3; the run goes on",
    ],
    "the same, one attempt asked for": [
        "1; the run goes on",
        "1; the run goes on",
        "1; the run fails",
        "1; the run fails",
    ],
    "effects of a write whose worker dies after it": [
        "1; the run goes on",
        "1; the run goes on",
        "2; the run goes on",
        "2; the run goes on",
    ],
    "ids that the tool is given, over its attempts": ["0", "1", "1", "0"],
    "text of its exception in history": ["yes", "no", "yes", "yes"],
}
"""By hand, temperance, pydantic-ai, OpenAI Agents: what docs/performance.md says of them."""


@pytest.mark.skipif(find_spec("pydantic_ai") is not None, reason="the peers are installed here")
def test_without_the_peers_one_line_says_what_to_run() -> None:
    """The packages, and the command that installs them, in one line; no traceback."""
    told = CliRunner().invoke(main, [])
    assert told.exit_code == 1
    assert told.output.count("\n") == 1
    assert "pydantic-ai-slim" in told.output
    assert "make bench-peers" in told.output


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.skipif(
    not PEERS_PYTHON.exists(), reason='the peers are not installed: make bench-peers ARGS="--quick"'
)
def test_the_arms_do_the_same_work_and_differ_where_the_page_says(tmp_path: Path) -> None:
    """A run in which arms settle other orders, or ask for other activities, ends with an error."""
    told = tmp_path / "told.json"
    run = subprocess.run(
        [PEERS_PYTHON, "-m", "benchmarks.peers", "--quick", "--json", told],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"},
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    answer = json.loads(told.read_text())
    found: dict[str, list[str]] = {}
    for fact in answer["facts"]:
        found.setdefault(fact["name"], []).append(fact["told"])
    assert found == FACTS
    events = {
        figure["arm"]: figure["value"]
        for figure in answer["figures"]
        if figure["name"] == "history events"
    }
    assert events["temperance"] == events["by hand"]


def test_over_twenty_blocks_each_arm_follows_each_other_one_as_often() -> None:
    """So what one arm leaves behind falls upon all others alike."""
    arms = list(WORKFLOWS)
    follows = Counter(pair for number in range(20) for pair in pairwise(turns(arms, number)))
    assert sorted(follows) == sorted(permutations(arms, 2))
    assert set(follows.values()) == {4}
    assert all(sorted(turns(arms, number)) == sorted(arms) for number in range(20))


def test_the_script_asks_for_each_order_once_and_ends() -> None:
    """The model that all arms have."""
    asked = [asks_for("o 3", answered) for answered in range(4)]
    assert asked == ["o-0", "o-1", "o-2", None]


async def test_a_flaky_order_takes_effect_before_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its effects are on disk, with what the tool was given, so that they outlive the worker."""
    monkeypatch.setattr(EFFECTS, "folder", tmp_path)
    for attempt in range(2):
        with pytest.raises(ConnectionError, match=tool.TELLTALE):
            await settle("flaky-1", f"key-{attempt}")
    assert (await settle("flaky-1", "key-2")).cents == 1250
    assert keys_of(tmp_path, "flaky-1") == ["key-0", "key-1", "key-2"]


async def test_an_order_that_makes_no_trouble_is_counted_in_memory(tmp_path: Path) -> None:
    """Nothing but the tool itself is timed."""
    before = EFFECTS.counts["o-1"]
    await settle("o-1")
    assert EFFECTS.counts["o-1"] == before + 1
    assert keys_of(tmp_path, "o-1") == []
