"""Capabilities that do as they are told while they are told to stop."""

import asyncio
import time
from datetime import timedelta
from typing import Any, Literal, cast

from pydantic import BaseModel
from temporalio import activity

from temperance import App, Context, Governance, Request, Retry, allow, capability
from temperance.runtime.decision import Decision
from temperance.runtime.middleware import Proceed
from temperance.runtime.sink import Sink
from tests.guarantees.stopping.scenes import SCENES, Scene

How = Literal[
    "return",
    "fail",
    "wait",
    "gate",
    "gate then fail",
    "swallow",
    "raise",
    "take back",
    "poll",
    "block",
    "until shutdown",
    "hang in opening",
    "hang in closing",
    "hang before",
    "hang after",
]

SHORT = timedelta(milliseconds=300)
AGAIN = Retry(max_retries=2, backoff=timedelta(milliseconds=10))


class Case(BaseModel):
    """What is to happen: `how` in each attempt, the last one also in all after it."""

    name: str
    how: tuple[How, ...] = ("return",)


class Mark(BaseModel):
    name: str = ""


class Doorway:
    """The application's context: it may hang where it is opened and where it is closed."""

    def __init__(self, request: Request[Any, Any]) -> None:
        self.case: Case = request.input

    async def __aenter__(self) -> None:
        if self.case.how[0] == "hang in opening":
            await asyncio.Event().wait()

    async def __aexit__(self, *_: object) -> None:
        if self.case.how[0] == "hang in closing":
            await asyncio.Event().wait()


async def hesitate(ctx: Context[None], proceed: Proceed) -> object:
    """Middleware that may hang before the handler and after it."""
    case = cast(Case, ctx.request.input)
    if case.how[0] == "hang before":
        await asyncio.Event().wait()
    output = await proceed()
    if case.how[0] == "hang after":
        await asyncio.Event().wait()
    return output


async def consider(request: Request[Any, Any]) -> Decision:
    """A policy that takes longer than the handler may, and less than policies may."""
    scene = SCENES[request.input.name]
    scene.notes.append("considered")
    await scene.gate.wait()
    return allow()


async def act(case: Case, ctx: Context[None]) -> Mark:
    scene = SCENES[case.name]
    scene.enter()
    how = case.how[min(ctx.attempt, len(case.how)) - 1]
    if how == "fail":
        raise ConnectionError
    if how == "block":
        time.sleep(SHORT.total_seconds() + 0.05)  # noqa: ASYNC251 - the fault that is tested
    if how in {"gate", "gate then fail"}:
        await scene.gate.wait()
        if how == "gate then fail":
            raise ConnectionError
    elif how == "until shutdown":
        await activity.wait_for_worker_shutdown()
        scene.notes.append("shutdown")
    elif how in {"wait", "swallow", "raise", "take back"}:
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
    scene.token = activity.info().task_token
    scene.enter_from_thread()
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


@capability(
    "stop.considered_write",
    description="Write within a moment, after due consideration.",
    expose={"agent"},
    side_effect="write",
    risk="low",
    timeout=SHORT,
    policies=[consider],
)
async def considered_write(case: Case, ctx: Context[None]) -> Mark:
    return await act(case, ctx)


@capability(
    "stop.long_write",
    description="Write for long enough that a heartbeat tells of it.",
    expose={"agent", "workflow"},
    side_effect="write",
    risk="low",
    timeout=timedelta(seconds=3),
)
async def long_write(case: Case, ctx: Context[None]) -> Mark:
    return await act(case, ctx)


ALL = (
    long_write,
    considered_write,
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


def app_with(
    *sinks: Sink,
    sink_timeout: timedelta = timedelta(seconds=1),
    policy_timeout: timedelta = timedelta(seconds=5),
    strict_audit: bool = False,
) -> App:
    """The application, with these sinks."""
    return App(
        Governance(ALL, middleware=[hesitate], policy_timeout=policy_timeout),
        context=Doorway,
        sinks=sinks,
        sink_timeout=sink_timeout,
        strict_audit=strict_audit,
    )
