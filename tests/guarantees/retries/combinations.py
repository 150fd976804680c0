"""Every combination of metadata that a retry depends on, and what DESIGN says of each (G2).

`expected` is written from DESIGN sections 4 and 6 alone: it shares no code with the library.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import product
from typing import Any, Literal, get_args

from pydantic import BaseModel

from temperance import (
    App,
    Capability,
    CapabilityError,
    Completed,
    Context,
    DeclaredError,
    ExecutionResult,
    Governance,
    Request,
    Retry,
    capability,
)
from temperance.runtime.names import SIDE_EFFECTS, SURFACES, SideEffect

Move = Literal["return", "garble", "break", "stumble", "refuse", "postpone", "hang"]
"""What a handler does in one attempt.

    return    gives its output
    garble    gives an output that is not of its type
    break     raises an exception that nobody declared
    stumble   raises one of the kind that `picky` retries name
    refuse    raises a declared error that is final
    postpone  raises a declared error that may be retried
    hang      waits until its deadline strikes
"""
MOVES: tuple[Move, ...] = get_args(Move)

Retries = Literal["never", "always", "picky", "wary"]
"""The declared retry: none, without `on`, with exception types, with a predicate that vetoes."""

MOST_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Combination:
    """The metadata that decides about attempts."""

    side_effect: SideEffect
    idempotent: bool
    retries: Retries

    @property
    def id(self) -> str:
        """The id of its capability."""
        repeatable = "idempotent" if self.idempotent else "plain"
        return f"combination.{self.side_effect}_{repeatable}_{self.retries}"

    @property
    def refused(self) -> bool:
        """Whether a registry must refuse it: a retry of what is not safe to repeat."""
        return self.retries != "never" and not self.repeatable

    @property
    def repeatable(self) -> bool:
        """Whether a further attempt is harmless by what is declared."""
        return self.side_effect in {"none", "read"} or self.idempotent


ALL: tuple[Combination, ...] = tuple(
    Combination(side_effect, idempotent, retries)
    for side_effect, idempotent, retries in product(SIDE_EFFECTS, (False, True), get_args(Retries))
)
VALID = tuple(combination for combination in ALL if not combination.refused)


def expected(combination: Combination, moves: Sequence[Move]) -> int:
    """How often the handler is entered."""
    if combination.retries == "never" or not combination.repeatable:
        return 1
    for attempt in range(1, MOST_ATTEMPTS):
        if not _again(combination.retries, move_of(moves, attempt)):
            return attempt
    return MOST_ATTEMPTS


def _again(retries: Retries, move: Move) -> bool:
    match move:
        case "return" | "garble" | "refuse":
            return False
        case "stumble" | "postpone":
            return True
        case "break":
            return retries != "picky"
        case "hang":
            return retries != "wary"


def move_of(moves: Sequence[Move], attempt: int) -> Move:
    """The move of an attempt; the last one repeats."""
    return moves[min(attempt, len(moves)) - 1]


class Scene(BaseModel):
    """The input: what to do in each attempt."""

    case: str
    moves: tuple[Move, ...]


class Line(BaseModel):
    """The output."""

    attempt: int


class Postponed(DeclaredError):
    reason = "POSTPONED"


GARBLED: dict[str, Any] = {"attempt": "not a number"}


def _wary(error: CapabilityError) -> bool:
    return error.code != "TIMEOUT"


async def play(input: Scene, ctx: Context[Counter[str]]) -> Line:
    ctx.app[input.case] += 1
    match move_of(input.moves, ctx.attempt):
        case "garble":
            return Line.model_construct(**GARBLED)
        case "break":
            raise ValueError(input.case)
        case "stumble":
            raise ConnectionResetError(input.case)
        case "refuse":
            raise Postponed("Not today.")
        case "postpone":
            raise Postponed("Not now.", retryable=True)
        case "hang":
            await asyncio.Event().wait()
        case "return":
            pass
    return Line(attempt=ctx.attempt)


def declare(combination: Combination, timeout: timedelta) -> Capability[Scene, Line]:
    """The capability of a combination; nothing is checked here."""
    on = {"picky": (ConnectionError,), "wary": _wary}.get(combination.retries)
    retry = Retry(
        max_retries=MOST_ATTEMPTS - 1,
        backoff=timedelta(milliseconds=1),
        on=on,  # type: ignore[arg-type] # one of the two forms, or none
    )
    return capability(
        combination.id,
        description="One combination.",
        expose=SURFACES,
        side_effect=combination.side_effect,
        risk="low",
        idempotent=combination.idempotent,
        retry=None if combination.retries == "never" else retry,
        timeout=timeout,
    )(play)


def app_of(entries: Counter[str], timeout: timedelta) -> App:
    """All valid combinations; `entries` counts the handler entries by case."""

    @asynccontextmanager
    async def counting(_: Request[object, object]) -> AsyncGenerator[Counter[str]]:
        yield entries

    capabilities = [declare(combination, timeout) for combination in VALID]
    return App(Governance(capabilities), context=counting, sinks=[])


def scenes(attempts: int = 1, among: Sequence[Move] = MOVES) -> Iterator[tuple[Combination, Scene]]:
    """Every valid combination with every move in each of the first so many attempts."""
    for combination, moves in product(VALID, product(among, repeat=attempts)):
        yield combination, Scene(case=f"{combination.id}/{'/'.join(moves)}", moves=moves)


def facts(envelope: ExecutionResult[Any]) -> tuple[object, ...]:
    """What an envelope says, but for who it belongs to: the same whatever drove the attempts."""
    code = None if isinstance(envelope, Completed) else getattr(envelope, "code", None)
    return (envelope.status, code, envelope.attempts, envelope.errors, envelope.effect)
