"""`Runtime.invoke` and its caller's cancellation: the end is recorded, then it is raised (G7)."""

import asyncio

import pytest

from temperance.runtime.envelope import (
    Completed,
    ExecutionResult,
)
from temperance.runtime.event import Event
from temperance.runtime.retry import Retry
from temperance.runtime.runtime import Runtime
from tests.runtime.asking import ask, failing, runtime_of
from tests.runtime.attempts import (
    Recorder,
    app_of,
    for_ever,
    handles,
    succeeds,
    waits,
)


async def cancelled(task: "asyncio.Task[ExecutionResult[object]]") -> None:
    """Cancels a request; its caller must get the exception, whatever became of it."""
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("swallows", [False, True])
async def test_g7_the_callers_cancellation_is_raised_after_the_end_is_recorded(
    swallows: bool,
) -> None:
    """Also where the handler swallows it and returns; never tried again."""
    started = asyncio.Event()
    entries = 0

    async def body() -> None:
        nonlocal entries
        entries += 1
        try:
            started.set()
            await for_ever()
        except asyncio.CancelledError:
            if not swallows:
                raise

    sink = Recorder()
    app = app_of(handles(body), sinks=[sink], side_effect="read", retry=Retry(max_retries=2))
    task = asyncio.ensure_future(ask(runtime_of(app)))
    await started.wait()
    await cancelled(task)

    assert entries == 1
    assert sink.types()[-1] == "capability.cancelled"
    assert (sink.last.effect, sink.last.error_code) == ("possible", "CANCELLED")


async def test_g7_a_cancellation_between_two_attempts_is_recorded_and_raised() -> None:
    """The first attempt left the last word to the second, which never comes."""
    waiting = asyncio.Event()

    async def sleep(seconds: float) -> None:
        waiting.set()
        await for_ever()

    sink = Recorder()
    app = app_of(
        failing(1, ConnectionError), sinks=[sink], side_effect="read", retry=Retry(max_retries=2)
    )
    task = asyncio.ensure_future(ask(Runtime(app, sleep=sleep)))
    await waiting.wait()
    await cancelled(task)

    assert sink.types() == ["capability.requested", "capability.started", "capability.cancelled"]
    assert (sink.last.effect, sink.last.attempts) == ("possible", 1)


async def test_g7_a_cancellation_while_the_end_is_recorded_leaves_the_end_as_it_is() -> None:
    """It completed; the caller, who has left, learns of it from the trail alone."""
    reached, opened = asyncio.Event(), asyncio.Event()
    kept = Recorder()

    class Gate:
        async def record(self, event: Event) -> None:
            if event.type == "capability.completed":
                reached.set()
                await opened.wait()
            kept.record(event)

    task = asyncio.ensure_future(ask(runtime_of(app_of(succeeds, sinks=[Gate()]))))
    await reached.wait()
    task.cancel()
    await asyncio.sleep(0)
    opened.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert kept.types()[-1] == "capability.completed"


async def test_a_caller_may_set_its_own_timeout() -> None:
    """`asyncio.timeout` works as it does around anything else."""
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await ask(runtime_of(app_of(waits)))
    assert isinstance(await ask(runtime_of(app_of(succeeds))), Completed)
