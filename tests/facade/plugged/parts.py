"""Capabilities for single requests, which count their effects."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from temperance import (
    App,
    Approval,
    Capability,
    Context,
    Governance,
    MemorySink,
    Request,
    Retry,
    capability,
    require_approval,
)

SHORT: Final = timedelta(milliseconds=300)


class Part(BaseModel):
    name: str
    tags: frozenset[str] = frozenset()


class Books:
    """The effects, a line each, and a gate that handlers wait at."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.gate = asyncio.Event()

    def add(self, line: str) -> None:
        """Note an effect."""
        with self.path.open("a") as file:
            file.write(f"{line}\n")

    def lines(self) -> list[str]:
        """The effects so far."""
        return self.path.read_text().splitlines() if self.path.exists() else []


@capability(
    "parts.order",
    description="Order.",
    expose={"agent", "direct"},
    side_effect="external",
    risk="medium",
    queue_timeout=SHORT,
)
async def order(input: Part, ctx: Context[Books]) -> Part:
    """Take the effect, and wait at the gate."""
    ctx.app.add(f"{input.name} {ctx.idempotency_key}")
    await ctx.app.gate.wait()
    return input


@capability(
    "parts.scrap",
    description="Scrap.",
    expose={"agent", "direct"},
    side_effect="destructive",
    risk="high",
    timeout=SHORT,
)
async def scrap(input: Part, ctx: Context[Books]) -> None:
    """Take the effect, and never return."""
    ctx.app.add(f"{input.name} {ctx.idempotency_key}")
    await asyncio.Event().wait()


@capability(
    "parts.melt",
    description="Melt.",
    expose={"agent", "direct"},
    side_effect="destructive",
    risk="critical",
    approval=Approval(type="manager", reason="It cannot be undone.", expires_in=timedelta(hours=1)),
    policies=[lambda _: require_approval("It is hot.", type="fireman", expires_in=SHORT)],
)
async def melt(input: Part, ctx: Context[Books]) -> None:
    """Take the effect."""
    ctx.app.add(input.name)


@capability(
    "parts.count",
    description="Count.",
    expose={"agent", "direct"},
    side_effect="read",
    risk="low",
    queue_timeout=SHORT,
    retry=Retry(1, backoff=timedelta(milliseconds=1)),
)
async def count(input: Part, ctx: Context[Books]) -> int:
    """Count."""
    return len(ctx.app.lines())


PARTS: Final[list[Capability[Any, Any]]] = [order, scrap, melt, count]


def parts(books: Books, sink: MemorySink) -> App:
    """The application: handlers write in `books`, events go to `sink`."""

    @asynccontextmanager
    async def context(request: Request[Any, Any]) -> AsyncGenerator[Books]:
        yield books

    return App(Governance(PARTS), context=context, sinks=[sink])
