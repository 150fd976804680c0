"""Capabilities that do as they are told while they are told to stop."""

import asyncio
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Literal

from pydantic import BaseModel

from temperance import App, Context, Governance, Retry, capability
from temperance.runtime.app import no_context
from temperance.runtime.sink import Sink
from tests.guarantees.stopping.scenes import SCENES, Scene

How = Literal[
    "return", "fail", "wait", "gate", "gate then fail", "swallow", "raise", "take back", "poll"
]

SHORT = timedelta(milliseconds=300)
AGAIN = Retry(max_retries=2, backoff=timedelta(milliseconds=10))


class Case(BaseModel):
    """What is to happen: `how` in each attempt, the last one also in all after it."""

    name: str
    how: tuple[How, ...] = ("return",)


class Mark(BaseModel):
    name: str = ""


async def act(case: Case, ctx: Context[None]) -> Mark:
    scene = SCENES[case.name]
    scene.enter()
    how = case.how[min(ctx.attempt, len(case.how)) - 1]
    if how == "fail":
        raise ConnectionError
    if how in {"gate", "gate then fail"}:
        await scene.gate.wait()
        if how == "gate then fail":
            raise ConnectionError
    elif how != "return":
        await _stopped(scene, how)
    scene.notes.append("returned")
    return Mark(name=case.name)


async def _stopped(scene: Scene, how: How) -> None:
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        scene.notes.append("told")
        if how == "wait":
            raise
        if how == "raise":
            raise ConnectionError from None
        if how == "take back" and (task := asyncio.current_task()) is not None:
            task.uncancel()


def act_in_thread(case: Case, ctx: Context[None]) -> Mark:
    scene = SCENES[case.name]
    loop_says = scene.enter
    loop_says()
    how = case.how[min(ctx.attempt, len(case.how)) - 1]
    if how == "fail":
        raise ConnectionError
    while how == "poll" and not ctx.cancelled:
        time.sleep(0.005)
    scene.notes.append("told" if ctx.cancelled else "returned")
    scene.over.set()
    return Mark(name=case.name)


@capability("stop.write", description="Write.", expose={"agent"}, side_effect="write", risk="low")
async def write(case: Case, ctx: Context[None]) -> Mark:
    return await act(case, ctx)


@capability(
    "stop.read",
    description="Read, up to three times.",
    expose={"agent"},
    side_effect="read",
    risk="low",
    retry=AGAIN,
)
async def read(case: Case, ctx: Context[None]) -> Mark:
    return await act(case, ctx)


@capability(
    "stop.patient_read",
    description="Read, and again an hour later.",
    expose={"agent"},
    side_effect="read",
    risk="low",
    retry=Retry(max_retries=2, backoff=timedelta(hours=1), max_backoff=timedelta(hours=1)),
)
async def patient_read(case: Case, ctx: Context[None]) -> Mark:
    return await act(case, ctx)


@capability(
    "stop.write_in_thread",
    description="Write, in a thread.",
    expose={"agent"},
    side_effect="write",
    risk="low",
)
def write_in_thread(case: Case, ctx: Context[None]) -> Mark:
    return act_in_thread(case, ctx)


@capability(
    "stop.read_in_thread",
    description="Read in a thread, up to three times.",
    expose={"agent"},
    side_effect="read",
    risk="low",
    retry=AGAIN,
)
def read_in_thread(case: Case, ctx: Context[None]) -> Mark:
    return act_in_thread(case, ctx)


@capability(
    "stop.short_write",
    description="Write within a moment.",
    expose={"agent"},
    side_effect="write",
    risk="low",
    timeout=SHORT,
)
async def short_write(case: Case, ctx: Context[None]) -> Mark:
    return await act(case, ctx)


@capability(
    "stop.short_read",
    description="Read within a moment, up to three times.",
    expose={"agent"},
    side_effect="read",
    risk="low",
    timeout=SHORT,
    retry=AGAIN,
)
async def short_read(case: Case, ctx: Context[None]) -> Mark:
    return await act(case, ctx)


@capability(
    "stop.short_write_in_thread",
    description="Write in a thread, within a moment.",
    expose={"agent"},
    side_effect="write",
    risk="low",
    timeout=SHORT,
)
def short_write_in_thread(case: Case, ctx: Context[None]) -> Mark:
    return act_in_thread(case, ctx)


@capability(
    "stop.impatient_write",
    description="Write, if somebody begins at once.",
    expose={"agent"},
    side_effect="write",
    risk="low",
    queue_timeout=timedelta(milliseconds=100),
)
async def impatient_write(case: Case, ctx: Context[None]) -> Mark:
    return await act(case, ctx)


ALL = (
    write,
    read,
    patient_read,
    write_in_thread,
    read_in_thread,
    short_write,
    short_read,
    short_write_in_thread,
    impatient_write,
)


def app_with(*sinks: Sink, sink_timeout: timedelta = timedelta(seconds=1)) -> App:
    """The application, with these sinks."""
    kept: Sequence[Sink] = sinks
    return App(Governance(ALL), context=no_context, sinks=kept, sink_timeout=sink_timeout)
