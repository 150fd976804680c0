"""Stage 10: the application's context is opened, bounded, and closed on every path."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from temperance.runtime import handling
from temperance.runtime.call import Broke, Outcome, Returned
from tests.runtime.attempts import (
    AT_ONCE,
    app_of,
    attempt,
    broken,
    for_ever,
    handles,
    impatient,
    succeeds,
    waits,
)


async def closed_after(
    app_handler: Callable[..., object], closing: Callable[[], Awaitable[object]], **metadata: Any
) -> tuple[Outcome, list[str]]:
    notes: list[str] = []

    class Closing:
        async def __aenter__(self) -> str:
            return "opened"

        async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> bool:
            notes.append("none" if kind is None else kind.__name__)
            await closing()
            return True

    outcome = await attempt(app_of(app_handler, context=lambda _: Closing(), **metadata))
    return outcome, notes


async def nothing() -> None:
    pass


async def test_the_context_is_closed_on_every_path_and_told_why() -> None:
    """Success, failure, timeout; its wish to suppress the failure is not heard."""

    async def fails() -> None:
        raise ConnectionError

    outcome, notes = await closed_after(succeeds, nothing)
    assert isinstance(outcome, Returned)
    assert notes == ["none"]
    outcome, notes = await closed_after(handles(fails), nothing)
    assert isinstance(outcome, Broke)
    assert notes == ["ConnectionError"]
    outcome, notes = await closed_after(waits, nothing, timeout=AT_ONCE)
    assert isinstance(outcome, Broke)
    assert (outcome.error.code, notes) == ("TIMEOUT", ["CancelledError"])


async def test_a_context_that_fails_to_close_after_success_leaves_the_effect_unknown() -> None:
    """Closing may be what commits."""

    async def fails() -> None:
        raise ConnectionError

    outcome, _ = await closed_after(succeeds, fails)
    assert isinstance(outcome, Broke)
    assert (outcome.error.code, outcome.effect) == ("EXECUTION_FAILED", "possible")


@pytest.mark.parametrize("closing", [RuntimeError("x"), SystemExit(1), asyncio.CancelledError()])
async def test_what_failed_first_stays_the_reason_when_closing_fails_too(
    closing: BaseException,
) -> None:
    async def fails() -> None:
        raise KeyError("first")

    async def fails_too() -> None:
        raise closing

    outcome, _ = await closed_after(handles(fails), fails_too)
    assert isinstance(outcome, Broke)
    assert isinstance(outcome.error.cause, KeyError)


async def test_g7_closing_is_bounded_after_success_and_after_a_timeout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After a timeout it is told to stop a second time: the first was the handler's."""
    monkeypatch.setattr(handling, "patience_after", impatient)
    outcome, notes = await closed_after(succeeds, for_ever, timeout=AT_ONCE)
    assert isinstance(outcome, Broke)
    assert (outcome.error.code, outcome.effect, notes) == ("TIMEOUT", "possible", ["none"])
    outcome, notes = await closed_after(waits, for_ever, timeout=AT_ONCE)
    assert isinstance(outcome, Broke)
    assert (outcome.error.code, notes) == ("TIMEOUT", ["CancelledError"])


async def test_g7_opening_is_bounded_and_nothing_was_entered() -> None:
    class Hanging:
        async def __aenter__(self) -> None:
            await for_ever()

        async def __aexit__(self, *_: object) -> None:
            raise AssertionError

    outcome = await broken(app_of(succeeds, context=lambda _: Hanging(), timeout=AT_ONCE))
    assert (outcome.error.code, outcome.error.stage, outcome.effect) == (
        "TIMEOUT",
        "controls",
        "none",
    )


async def test_a_context_that_cannot_be_made_is_an_internal_error_without_effect() -> None:
    def broken_factory(_: object) -> Any:
        raise ConnectionError("secret")

    outcome = await broken(app_of(succeeds, context=broken_factory))
    assert (outcome.error.code, outcome.effect) == ("INTERNAL_ERROR", "none")
    assert "secret" not in str(outcome.info)
