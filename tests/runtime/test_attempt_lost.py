"""An attempt that its driver has given up records no end: somebody else has (G1)."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from temperance.runtime.call import Broke, Interruption, Returned
from temperance.runtime.capability import Approval
from temperance.runtime.decision import deny
from temperance.runtime.event import TERMINAL
from temperance.runtime.sink import MemorySink
from tests.runtime.attempts import AT_ONCE, RETRIED, app_of, attempt, broken, giving, handles


async def returns() -> None:
    """Nothing goes wrong."""


async def raises() -> None:
    raise RuntimeError


async def hangs() -> None:
    await asyncio.Event().wait()


async def yes() -> bool:
    return True


async def no() -> bool:
    return False


ENDS: dict[str, tuple[Callable[[], Awaitable[None]], dict[str, Any]]] = {
    "completed": (returns, {}),
    "failed": (raises, {}),
    "timed out": (hangs, {"timeout": AT_ONCE}),
    "denied": (returns, {"policies": [giving(deny("NO", "No."))]}),
    "approval required": (returns, {"approval": Approval()}),
}


@pytest.mark.parametrize("end", ENDS)
async def test_g1_an_attempt_that_was_given_up_records_no_end(end: str) -> None:
    """However it ends; and it says that it was lost, so that nobody takes its word."""
    body, options = ENDS[end]
    sink = MemorySink()
    app = app_of(handles(body), sinks=[sink], **options)

    outcome = await broken(app, lost=yes)

    assert outcome.interruption == "lost"
    assert TERMINAL.isdisjoint(sink.types())


@pytest.mark.parametrize("end", ENDS)
async def test_g1_an_attempt_that_still_counts_records_its_end(end: str) -> None:
    """Being asked changes nothing. Where a person is to be asked, the end is still to come."""
    body, options = ENDS[end]
    sink = MemorySink()
    app = app_of(handles(body), sinks=[sink], **options)

    outcome = await attempt(app, lost=no)

    assert not isinstance(outcome, Broke) or outcome.interruption is None
    ends = 0 if end == "approval required" else 1
    assert len(TERMINAL.intersection(sink.types())) == ends


async def test_g1_an_attempt_that_another_follows_need_not_ask_whether_it_counts() -> None:
    """It records no end in any case."""

    async def never() -> bool:
        raise AssertionError

    outcome = await broken(app_of(handles(raises), **RETRIED), lost=never)

    assert outcome.retries


@pytest.mark.parametrize("interruption", ["cancelled", "lost"])
async def test_g1_a_cancellation_while_an_attempt_asks_leaves_its_outcome_as_it_is(
    interruption: Interruption,
) -> None:
    """The handler has returned before: the execution is completed, unless it was given up."""
    asking = asyncio.Event()

    async def asks() -> bool:
        asking.set()
        await asyncio.sleep(timedelta(days=1).total_seconds())
        return True

    sink = MemorySink()
    app = app_of(handles(returns), sinks=[sink])
    running = attempt(app, lost=asks, interruption=lambda: interruption)
    task = asyncio.create_task(running)
    await asking.wait()
    task.cancel()
    outcome = await task

    if interruption == "cancelled":
        assert isinstance(outcome, Returned)
        assert sink.types()[-1] == "capability.completed"
    else:
        assert isinstance(outcome, Broke)
        assert outcome.interruption == "lost"
        assert TERMINAL.isdisjoint(sink.types())
