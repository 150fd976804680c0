"""`make fuzz`: the targets of this folder with many examples, round after round.

Each round has a seed, so that it can be run again; examples that failed are kept outside of the
repository and tried first the next time.
"""

import argparse
import os
import re
import secrets
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
CACHE: Final = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "temperance-fuzz"
"""Where examples that failed are kept."""

_TARGET: Final = re.compile(r"^(\S+\.py)::(\w+):$")
_COUNT: Final = re.compile(r"- (\d+) passing, (\d+) failing")
_FAILED: Final = re.compile(r"^FAILED (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Round:
    """One pass over the targets.

    Args:
        seed: Gives the same examples again.
        seconds: How long it took.
        examples: How many each target tried.
        failed: The tests that failed.
        output: What pytest printed.
    """

    seed: int
    seconds: float
    examples: Counter[str]
    failed: tuple[str, ...]
    output: str


def run_round(seed: int, examples: int, chosen: str | None) -> Round:
    """Runs all targets once.

    Args:
        seed: Of the round.
        examples: Of a target that needs no server; those that do get fewer.
        chosen: As `pytest -k` takes it.
    """
    command = [
        *(sys.executable, "-m", "pytest", str(HERE), "-q", "--no-header", "--tb=short"),
        *("-p", "no:cacheprovider", "--show-capture=no", "--timeout=0"),
        *(f"--hypothesis-seed={seed}", "--hypothesis-show-statistics"),
        *(() if chosen is None else ("-k", chosen)),
    ]
    env = {
        **os.environ,
        "FUZZ_EXAMPLES": str(examples),
        "FUZZ_DATABASE": str(CACHE / "examples"),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(CACHE),
    }
    began = time.monotonic()
    ran = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    taken = time.monotonic() - began
    output = ran.stdout + ran.stderr
    failed = tuple(dict.fromkeys(_FAILED.findall(output)))
    if ran.returncode and not failed:
        failed = ("pytest itself",)
    return Round(seed, taken, counted(output), failed, output)


def counted(output: str) -> Counter[str]:
    """How many examples each target tried, from what hypothesis says of it."""
    found: Counter[str] = Counter()
    target = ""
    for line in output.splitlines():
        if (named := _TARGET.match(line)) is not None:
            target = named[2]
        elif target and (numbers := _COUNT.search(line)) is not None:
            found[target] += int(numbers[1]) + int(numbers[2])
    return found


def main() -> int:
    """Runs rounds until the time is up or a target fails.

    Returns:
        1 where a target failed, else 0.
    """
    parser = argparse.ArgumentParser(prog='make fuzz ARGS="..."', description=__doc__)
    parser.add_argument(
        "--minutes", type=float, default=10.0, help="begin rounds for so long; 0 for one (10)"
    )
    parser.add_argument(
        "--examples", type=int, default=200, help="of a cheap target in each round (200)"
    )
    parser.add_argument("--seed", type=int, help="of the first round; a random one unless given")
    parser.add_argument("-k", dest="chosen", help="only targets whose name matches, as in pytest")
    given = parser.parse_args()
    seed: int = secrets.randbelow(10**9) if given.seed is None else given.seed
    end = time.monotonic() + given.minutes * 60
    total: Counter[str] = Counter()
    began = time.monotonic()
    while True:
        done = run_round(seed, given.examples, given.chosen)
        total += done.examples
        state = f"{len(done.failed)} FAILED" if done.failed else "no failure"
        say(
            f"seed {seed:<11,} {done.examples.total():>8,} examples "
            f"{done.seconds:>7.1f} s   {state}"
        )
        if done.failed:
            tell(done, given.examples)
        if done.failed or time.monotonic() >= end:
            break
        seed += 1
    say(f"\n{total.total():,} examples of {len(total)} targets, {time.monotonic() - began:,.0f} s:")
    for target, count in total.most_common():
        say(f"  {count:>9,}  {target}")
    return 1 if done.failed else 0


def tell(done: Round, examples: int) -> None:
    """Says what failed, and how to have it fail again."""
    say(done.output.partition("= Hypothesis Statistics =")[0].rstrip(" ="))
    say(f"Failed with seed {done.seed}:")
    for name in done.failed:
        say(f"  {name}")
        test = name.partition("::")[2].partition("[")[0]
        if test:
            again = f"--minutes 0 --seed {done.seed} --examples {examples} -k {test}"
            say(f'    again: make fuzz ARGS="{again}"')
    say(f"What failed is kept in {CACHE} and tried first from now on.")


def say(line: str) -> None:
    """A line for whoever looks on."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
