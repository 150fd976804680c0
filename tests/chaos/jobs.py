"""What a chaos run asks for, and what becomes of each handler: a function of seed and number.

Nothing here does I/O: workflows import it too.
"""

from hashlib import sha256
from typing import Literal

from pydantic import BaseModel

Kind = Literal["read", "charge", "write", "blocking", "gated", "patient"]
"""A retried read; an idempotent write, retried; writes that are not, `async` and in a thread; a
write that a person must approve; one with a timeout that is long enough for heartbeats."""

Fate = Literal[
    "return", "die_before", "die_inside", "die_after", "raise_before", "raise_after", "hang"
]

KINDS: dict[Kind, int] = {
    "read": 2,
    "charge": 3,
    "write": 3,
    "blocking": 2,
    "gated": 2,
    "patient": 1,
}
"""How often each is asked for, in parts."""

DEADLY: tuple[Fate, ...] = ("die_before", "die_inside", "die_after")
UNKIND: tuple[Fate, ...] = ("raise_before", "raise_after", "hang")


class Job(BaseModel):
    """One execution to ask for.

    Args:
        seed: Of the run.
        n: Number in the run, unique.
        kind: Which capability.
        deadly: In how many of 1,000 attempts the process dies.
        unkind: In how many of 1,000 attempts the handler raises, or hangs beyond its timeout.
        step: An explicit step; automatic unless given.
        wait: Whether the workflow waits where a person must approve.
    """

    seed: int
    n: int
    kind: Kind
    deadly: int = 0
    unkind: int = 0
    step: str | None = None
    wait: bool = True

    @property
    def capability(self) -> str:
        """The id of the capability."""
        return f"chaos.{self.kind}"


class Receipt(BaseModel):
    """What a handler answers."""

    n: int
    key: str
    attempt: int


class Plan(BaseModel):
    """What one workflow asks for: so many at once, the rest as soon as one has ended."""

    jobs: tuple[Job, ...]
    at_once: int = 4


def draw(*parts: object, below: int) -> int:
    """A number that follows from the parts alone, in every process and every version."""
    digest = sha256(":".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") % below


def fate_of(job: Job, attempt: int) -> Fate:
    """What becomes of the handler in this attempt."""
    parts = (job.seed, job.kind, job.n, attempt)
    number = draw(*parts, "fate", below=1000)
    if number < job.deadly:
        return DEADLY[draw(*parts, "death", below=len(DEADLY))]
    if number < job.deadly + job.unkind:
        return UNKIND[draw(*parts, "unkindness", below=len(UNKIND))]
    return "return"


def kind_of(seed: int, n: int) -> Kind:
    """Which kind the job with this number is."""
    shares: list[Kind] = [kind for kind, parts in KINDS.items() for _ in range(parts)]
    return shares[draw(seed, n, "kind", below=len(shares))]
