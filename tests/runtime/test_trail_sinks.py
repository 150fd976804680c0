"""Sinks that fail, hang or take their time: no outcome changes, no record is lost (G4)."""

import asyncio
import logging
from collections.abc import Awaitable
from datetime import timedelta
from typing import Any

import pytest

from temperance.runtime.call import Broke, Returned
from temperance.runtime.event import Event
from tests.runtime.attempts import (
    RETRIED,
    Recorder,
    app_of,
    attempt,
    broken,
    for_ever,
    handles,
    never,
    succeeds,
)

QUICK = timedelta(milliseconds=5)


class Raising:
    def __init__(self, error: BaseException) -> None:
        self.error = error

    def record(self, event: Event) -> None:
        raise self.error


class RaisingLater:
    def __init__(self, error: BaseException) -> None:
        self.error = error

    async def record(self, event: Event) -> None:
        await asyncio.sleep(0)
        raise self.error


class Hanging:
    def __init__(self) -> None:
        self.told = 0

    async def record(self, event: Event) -> None:
        try:
            await for_ever()
        finally:
            self.told += 1


class Stubborn:
    """Ignores that its time is over."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()

    async def record(self, event: Event) -> None:
        try:
            await for_ever()
        except asyncio.CancelledError:
            self.ended.set()
            raise ConnectionError from None


class Promising:
    """Returns a future: neither `async def` nor done."""

    def record(self, event: Event) -> Awaitable[None]:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(future.set_result, None)
        return future


FAULTY: dict[str, Any] = {
    "raises": Raising(ConnectionError("secret")),
    "exits": Raising(SystemExit(1)),
    "raises a cancellation": Raising(asyncio.CancelledError()),
    "raises later": RaisingLater(ConnectionError("secret")),
    "exits later": RaisingLater(SystemExit(1)),
    "cancels itself later": RaisingLater(asyncio.CancelledError()),
    "hangs": Hanging(),
    "is stubborn": Stubborn(),
}


@pytest.mark.parametrize("fault", FAULTY)
async def test_g4_a_sink_that_fails_changes_no_outcome_and_no_other_sink(
    fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Success and failure stay what they are; the log names sink, event and kind of error."""

    async def fails() -> None:
        raise ConnectionError

    good = Recorder()
    sinks = [FAULTY[fault], good]
    done = await attempt(app_of(succeeds, sinks=sinks, sink_timeout=QUICK))
    assert isinstance(done, Returned)
    assert good.types() == ["capability.requested", "capability.started", "capability.completed"]
    good.clear()
    with caplog.at_level(logging.WARNING, "temperance.audit"):
        failed = await attempt(app_of(handles(fails), sinks=sinks, sink_timeout=QUICK))
    assert isinstance(failed, Broke)
    assert failed.error.code == "EXECUTION_FAILED"
    assert good.types() == ["capability.requested", "capability.started", "capability.failed"]
    assert "did not record e-1:1:capability.started" in caplog.text
    assert "secret" not in caplog.text


async def test_g4_a_sink_may_return_anything_that_can_be_awaited() -> None:
    outcome = await attempt(app_of(succeeds, sinks=[Promising()], strict_audit=True))
    assert isinstance(outcome, Returned)


@pytest.mark.parametrize("fault", ["raises", "raises later", "cancels itself later", "hangs"])
async def test_g4_in_strict_audit_nothing_is_entered_that_was_not_recorded(fault: str) -> None:
    """AUDIT_UNAVAILABLE, effect none, told to the other sinks; a read may try again."""
    good = Recorder()
    app = app_of(
        never, sinks=[FAULTY[fault], good], strict_audit=True, sink_timeout=QUICK, **RETRIED
    )
    outcome = await broken(app)
    assert (outcome.error.code, outcome.effect) == ("AUDIT_UNAVAILABLE", "none")
    assert outcome.retries
    last = await broken(app, attempt=3)
    assert (last.error.code, last.retries) == ("AUDIT_UNAVAILABLE", False)
    assert good.last.error_code == "AUDIT_UNAVAILABLE"


async def test_g4_in_strict_audit_only_what_is_about_to_happen_must_be_recorded() -> None:
    """A sink that fails at the end changes nothing: the effect has happened."""

    class Ends(Recorder):
        def record(self, event: Event) -> None:
            if event.type != "capability.started":
                raise ConnectionError
            super().record(event)

    sink = Ends()
    assert isinstance(await attempt(app_of(succeeds, sinks=[sink], strict_audit=True)), Returned)
    assert sink.types() == ["capability.started"]


class Gate:
    """Holds one type of event until it is opened."""

    def __init__(self, held: str) -> None:
        self.held = held
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()
        self.kept = Recorder()

    async def record(self, event: Event) -> None:
        if event.type == self.held:
            self.reached.set()
            await self.opened.wait()
        self.kept.record(event)


@pytest.mark.parametrize(
    ("held", "end"),
    [
        ("capability.requested", "capability.cancelled"),
        ("capability.started", "capability.cancelled"),
        ("capability.completed", "capability.completed"),
    ],
)
async def test_g4_a_cancellation_waits_for_the_record(held: str, end: str) -> None:
    """The record of what happened is not lost because the caller leaves, nor is its leaving."""
    gate = Gate(held)
    task = asyncio.ensure_future(attempt(app_of(succeeds, sinks=[gate])))
    await gate.reached.wait()
    task.cancel()
    await asyncio.sleep(0)
    gate.opened.set()
    outcome = await task
    assert gate.kept.types()[-1] == end
    assert isinstance(outcome, Returned if end == "capability.completed" else Broke)


async def test_g4_a_cancellation_during_a_record_that_takes_too_long_is_not_lost() -> None:
    """The sink had its time; the handler is not entered for all that."""
    gate = Gate("capability.started")
    task = asyncio.ensure_future(broken(app_of(never, sinks=[gate], sink_timeout=QUICK)))
    await gate.reached.wait()
    task.cancel()
    outcome = await task
    assert (outcome.error.code, outcome.effect) == ("CANCELLED", "none")


async def test_a_sink_that_takes_too_long_is_told_so() -> None:
    hanging, stubborn = Hanging(), Stubborn()
    await attempt(app_of(succeeds, sinks=[hanging, stubborn], sink_timeout=QUICK))
    await asyncio.wait_for(stubborn.ended.wait(), 5)
    assert hanging.told == 3
