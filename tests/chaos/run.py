"""One chaos run, from the first process to the last check."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.evidence import Evidence, gather
from tests.chaos.fleet import Fleet
from tests.chaos.load import Load
from tests.chaos.storm import Deeds, Storm
from tests.chaos.verify import (
    Check,
    effects_were_asked_for,
    envelopes_agree_with_the_ledger,
    keys_follow_the_formula,
    no_second_effect,
    one_envelope_each,
)
from tests.chaos.verify_trail import (
    approved_before_run,
    effects_have_a_start,
    ends_agree_with_envelopes,
    further_ends_are_explained,
)

CHECKS: tuple[Check, ...] = (
    no_second_effect,
    one_envelope_each,
    effects_were_asked_for,
    keys_follow_the_formula,
    envelopes_agree_with_the_ledger,
    effects_have_a_start,
    ends_agree_with_envelopes,
    approved_before_run,
    further_ends_are_explained,
)


@dataclass(frozen=True)
class Run:
    """What to run. `every` is the mean time between two blows, in seconds."""

    folder: Path
    seed: int
    executions: int
    every: float = 0.8


@dataclass(frozen=True)
class Ended:
    """How it went. `failures` has the texts of every check by its name."""

    run: Run
    seconds: float
    deaths: int
    deeds: Deeds
    evidence: Evidence
    failures: dict[str, list[str]]


def check(evidence: Evidence) -> dict[str, list[str]]:
    """Every check by its name."""
    return {one.__name__: one(evidence) for one in CHECKS}


async def run(what: Run, progress: Callable[[str], None] = lambda _: None) -> Ended:
    """Run it. Nothing is left running; the folder keeps ledger, trail and the server's store."""
    begun = time.monotonic()
    # In a long run deaths are rarer, or the workers would hardly live at all.
    deadly, unkind = (30, 100) if what.executions <= 1000 else (8, 60)
    load = Load(what.seed, what.executions, deadly, unkind)
    fleet = Fleet(what.folder)
    try:
        client = await fleet.open()
        deeds = await Storm(fleet, client, load, what.every).rage(progress)
        evidence = await gather(fleet, client, load, deeds)
    finally:
        await fleet.close()
    seconds = time.monotonic() - begun
    return Ended(what, seconds, fleet.deaths, deeds, evidence, check(evidence))
