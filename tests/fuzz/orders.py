"""One capability, made up by an example, and asked for once."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from pydantic import BaseModel, JsonValue

from temperance import (
    App,
    Capability,
    Governance,
    MemorySink,
    Policy,
    Redact,
    Retry,
)
from temperance.runtime.names import SideEffect
from tests.fuzz.judging import Door, Seen, invoke, judge
from tests.fuzz.secret import SECRET

Make = Callable[[], BaseException]
SOON = timedelta(milliseconds=30)


class Order(BaseModel):
    """What is asked for."""

    order: str = "a"
    note: Any = None


class Slip(BaseModel):
    """What comes of it; nobody is to see the card."""

    label: str = "ok"
    card: str | None = None
    more: JsonValue = None


CARD = Redact(output=("card",), approval_input=("note",))


def one(handler: Callable[..., object], **metadata: Any) -> Capability[Any, Any]:
    """The capability ``fuzz.one``, a write unless told otherwise."""
    sound: dict[str, Any] = {
        "id": "fuzz.one",
        "description": "Whatever it is.",
        "expose": frozenset({"agent"}),
        "side_effect": "write",
        "risk": "low",
        "timeout": timedelta(seconds=5),
        "redact": CARD,
    }
    return Capability[Any, Any](handler=handler, **(sound | metadata))


def retried(side_effect: SideEffect, on: Any = (Exception,)) -> dict[str, Any]:
    """Metadata of what may be tried three times."""
    retry = Retry(max_retries=2, backoff=timedelta(0), on=on)
    return {"side_effect": side_effect, "idempotent": True, "retry": retry}


def opened(door: Door) -> Callable[[Order], Awaitable[Slip]]:
    """A handler that only counts."""

    async def handler(input: Order) -> Slip:
        door.entered += 1
        door.returned += 1
        return Slip(card=SECRET)

    return handler


async def asked(
    door: Door,
    capability: Capability[Any, Any],
    policies: list[Policy] | None = None,
    value: object = None,
    **more: Any,
) -> Seen:
    """Asks for it once, and judges what came of it."""
    sink = MemorySink()
    governance = Governance([capability], policies or [], policy_timeout=SOON)
    app = App(governance, sinks=[sink], sink_timeout=SOON, **more)
    seen = await invoke(app, sink, "fuzz.one", {} if value is None else value)
    judge(seen, door)
    return seen
