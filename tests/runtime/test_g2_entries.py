"""How often a handler is entered, over everything that decides about it, in process (G2)."""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from temperance import Actor, CapabilityRegistry, RegistryError, Runtime
from temperance.runtime.names import SURFACES, Surface
from tests.guarantees.retries.combinations import (
    ALL,
    MOVES,
    VALID,
    Combination,
    Move,
    Scene,
    app_of,
    declare,
    expected,
    move_of,
    scenes,
)

ADA = Actor(id="ada")
SOON = timedelta(milliseconds=250)
GENEROUS = timedelta(minutes=1)
IN_TIME: list[Move] = [move for move in MOVES if move != "hang"]


async def no_pause(_: float) -> None:
    """Takes the place of the wait between attempts."""


@pytest.mark.parametrize("combination", ALL, ids=lambda combination: combination.id)
def test_g2_a_registry_takes_a_retry_only_of_what_is_safe_to_repeat(
    combination: Combination,
) -> None:
    """What is refused here needs no limit at run time; the attempt has one all the same."""
    entry = declare(combination, SOON)
    if combination.refused:
        with pytest.raises(RegistryError, match="idempotent=True"):
            CapabilityRegistry([entry])
    else:
        assert len(list(CapabilityRegistry([entry]))) == 1


@pytest.mark.parametrize("surface", SURFACES)
async def test_g2_a_handler_is_entered_as_often_as_its_metadata_allows(surface: Surface) -> None:
    """All combinations of side effect, idempotent, retry and ways to end, through each door."""
    await play_all(list(scenes(2, IN_TIME)), GENEROUS, surface)


async def test_g2_a_handler_that_hangs_is_entered_as_often_as_its_metadata_allows() -> None:
    """The same, where some attempts, or all, end at their deadline."""
    hanging = [(entry, scene) for entry, scene in scenes(2) if "hang" in scene.moves]
    await play_all(hanging, SOON, "direct")


async def play_all(
    played: list[tuple[Combination, Scene]], timeout: timedelta, surface: Surface
) -> None:
    """Play all at once, and compare with what DESIGN says."""
    entries: Counter[str] = Counter()
    runtime = Runtime(app_of(entries, timeout), sleep=no_pause)

    envelopes = await asyncio.gather(
        *(runtime.invoke(entry.id, scene, actor=ADA, surface=surface) for entry, scene in played)
    )

    wanted = {scene.case: expected(entry, scene.moves) for entry, scene in played}
    assert dict(entries) == wanted
    assert [envelope.attempts for envelope in envelopes] == list(wanted.values())


ENTRIES: Counter[str] = Counter()
RUNTIME = Runtime(app_of(ENTRIES, GENEROUS), sleep=no_pause)


@given(
    st.sampled_from(VALID),
    st.lists(st.sampled_from(IN_TIME), min_size=1, max_size=5),
)
def test_g2_entries_follow_from_metadata_whatever_each_attempt_does(
    combination: Combination, moves: list[Move]
) -> None:
    """Attempts that end in different ways count together; the outcome is the last attempt's."""
    ENTRIES.clear()
    scene = Scene(case="any", moves=tuple(moves))

    envelope = asyncio.run(RUNTIME.invoke(combination.id, scene, actor=ADA))

    count = expected(combination, moves)
    assert ENTRIES["any"] == envelope.attempts == count
    assert len(envelope.errors) == count - 1
    assert (envelope.status == "completed") == (move_of(moves, count) == "return")
    assert envelope.effect == (
        "done" if move_of(moves, count) in {"return", "garble"} else "possible"
    )
