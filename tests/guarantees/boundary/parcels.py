"""Capabilities that take their effect once, and then give an output that cannot be given."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final, Literal, cast

from pydantic import BaseModel

from temperance import (
    App,
    Capability,
    Context,
    Governance,
    MemorySink,
    Redact,
    Request,
    Retry,
    capability,
)
from tests.guarantees.boundary.ledger import Ledger

Kind = Literal[
    "good",
    "large",
    "unvalidated",
    "another class",
    "nothing",
    "no JSON",
    "no number",
    "endless",
    "no text",
]
SECRET = "sesame-4111"
LARGE = 3_000_000
SEVERAL = Retry(2, backoff=timedelta(milliseconds=1))


class Order(BaseModel):
    kind: Kind = "good"
    size: int = 1


class Parcel(BaseModel):
    label: str = "p"
    weight: float | None = 1
    more: Any = None


class Letter(BaseModel):
    stamp: str = SECRET


def _rope() -> list[object]:
    rope: list[object] = [SECRET]
    rope.append(rope)
    return rope


PARCELS: Final[dict[Kind, Callable[[Order], Parcel]]] = {
    "good": lambda order: Parcel(label="p" * order.size),
    "large": lambda _: Parcel(label="p" * LARGE),
    "unvalidated": lambda _: Parcel.model_construct(label=SECRET, weight=cast(float, SECRET)),
    "another class": lambda _: cast(Parcel, Letter()),
    "nothing": lambda _: cast(Parcel, None),
    "no JSON": lambda _: Parcel(more={SECRET: object()}),
    "no number": lambda _: Parcel(weight=float("nan")),
    "endless": lambda _: Parcel(more=_rope()),
    "no text": lambda _: Parcel(label=f"{SECRET}\ud800"),
}
"""What is given for each kind: most is no parcel."""


def send(order: Order, ctx: Context[Ledger]) -> Parcel:
    """Take the effect, and make the parcel."""
    ctx.app.add(order.kind)
    return PARCELS[order.kind](order)


@capability(
    "parcels.send",
    description="Send.",
    expose={"agent", "workflow"},
    side_effect="write",
    risk="low",
)
async def send_parcel(input: Order, ctx: Context[Ledger]) -> Parcel:
    return send(input, ctx)


@capability(
    "parcels.look",
    description="Look.",
    expose={"agent", "workflow"},
    side_effect="read",
    risk="low",
    retry=SEVERAL,
)
def look_at_parcel(input: Order, ctx: Context[Ledger]) -> Parcel:
    return send(input, ctx)


def spill(parcel: Parcel) -> Parcel:
    """A redaction with a fault, which has the output in its hands."""
    raise ValueError(f"{SECRET}: {parcel}")


def empty(parcel: Parcel) -> Parcel:
    """A redaction that gives nothing."""
    return cast(Parcel, None)


def swap(parcel: Parcel) -> Letter:
    """A redaction that gives something else."""
    return Letter()


def _redacting(name: str, rule: Any) -> Capability[Order, Parcel]:  # any function: most are wrong
    @capability(
        f"parcels.{name}",
        description="Send, and redact.",
        expose={"agent", "workflow"},
        side_effect="external",
        idempotent=True,
        risk="low",
        retry=SEVERAL,
        redact=Redact(output=rule),
    )
    def redacting(input: Order, ctx: Context[Ledger]) -> Parcel:
        return send(input, ctx)

    return redacting


spilling = _redacting("spill", spill)
emptying = _redacting("empty", empty)
swapping = _redacting("swap", swap)

OFFICE = [send_parcel, look_at_parcel, spilling, emptying, swapping]


def office(ledger: Ledger, sink: MemorySink) -> App:
    """The application: handlers write in `ledger`, events go to `sink`."""

    @asynccontextmanager
    async def books(request: Request[Any, Any]) -> AsyncGenerator[Ledger]:
        yield ledger

    return App(Governance(OFFICE), context=books, sinks=[sink])
