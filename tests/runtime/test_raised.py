"""Whatever a handler raises is reported, and ends the attempt in no other way (G10)."""

import asyncio
import contextvars
from datetime import timedelta
from typing import Any, cast

import pytest

from temperance.runtime.call import Broke, Returned
from temperance.runtime.context import Context
from temperance.runtime.error import CapabilityError, DeclaredError
from temperance.runtime.middleware import Proceed
from temperance.runtime.raised import translate
from tests.runtime.attempts import (
    RETRIED,
    Slip,
    app_of,
    attempt,
    broken,
    handles,
)
from tests.runtime.orders import Order

VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("test_variable", default="unset")


async def test_a_threaded_handler_sees_the_context_variables_of_its_attempt() -> None:
    async def sets(ctx: Context[Any], proceed: Proceed) -> object:
        VARIABLE.set("from middleware")
        return await proceed()

    def handler(order: Order) -> Slip:
        seen = VARIABLE.get()
        VARIABLE.set("from the thread")
        return Slip(number=seen)

    outcome = await asyncio.ensure_future(attempt(app_of(handler, middleware=[sets])))
    assert isinstance(outcome, Returned)
    assert outcome.output == Slip(number="from middleware")
    assert VARIABLE.get() == "unset"


def test_a_handler_that_ends_the_process_ends_the_process() -> None:
    """KeyboardInterrupt is nobody's result."""

    async def body() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(attempt(app_of(handles(body))))


async def raising(error: BaseException) -> Broke:
    async def body() -> None:
        raise error

    return await broken(app_of(handles(body), **RETRIED))


@pytest.mark.parametrize(
    "error",
    [
        SystemExit(3),
        BaseExceptionGroup("two", [ValueError("a"), SystemExit(1)]),
        ExceptionGroup("one", [ValueError("a")]),
        StopAsyncIteration(),
        StopIteration(),
        asyncio.CancelledError(),
        MemoryError(),
        RecursionError(),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_whatever_a_handler_raises_is_the_failure_of_the_attempt(
    error: BaseException,
) -> None:
    """Also what is no `Exception`, and a cancellation that nobody asked for."""
    outcome = await raising(error)
    assert (outcome.error.code, outcome.effect, outcome.retries) == (
        "EXECUTION_FAILED",
        "possible",
        True,
    )


@pytest.mark.parametrize("error", [StopIteration(1), SystemExit(1)], ids=["StopIteration", "exit"])
async def test_what_a_threaded_handler_raises_arrives_at_once(error: BaseException) -> None:
    """A future cannot hold StopIteration: left as it is, the attempt waits for its timeout."""

    def handler(order: Order) -> Slip:
        raise error

    outcome = await asyncio.wait_for(broken(app_of(handler)), 5)
    assert (outcome.error.code, outcome.effect) == ("EXECUTION_FAILED", "possible")


async def test_what_a_threaded_handler_raises_is_the_very_exception_that_it_raised() -> None:
    """Of a `TimeoutError` a future makes another one, without the place that the log names."""
    error = TimeoutError("the gateway")

    def handler(order: Order) -> Slip:
        raise error

    outcome = await broken(app_of(handler))
    assert outcome.error.cause is error


class Late(Exception):
    def __init__(self, retry_after: object) -> None:
        self.retry_after = retry_after


class Tricky(Exception):
    @property
    def retry_after(self) -> timedelta:
        raise LookupError


class Unfinished(DeclaredError):
    def __init__(self) -> None:
        """Forgets its base class."""


class Misdeclared(DeclaredError):
    reason = cast(Any, 42)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (timedelta(seconds=5), timedelta(seconds=5)),
        (timedelta.max, timedelta(days=1)),
        (timedelta(0), None),
        (timedelta(seconds=-5), None),
        ("soon", None),
        (5, None),
    ],
)
def test_a_retry_after_is_kept_within_bounds_that_every_driver_can_wait(
    given: object, kept: timedelta | None
) -> None:
    assert translate(Late(given)).retry_after == kept


def test_a_declared_retry_after_is_bounded_too() -> None:
    error = translate(DeclaredError("Busy.", retry_after=timedelta.max))
    assert (error.retry_after, error.retryable) == (timedelta(days=1), True)


@pytest.mark.parametrize(
    "raised",
    [
        Tricky(),
        Unfinished(),
        Misdeclared("no"),
        CapabilityError("FORBIDDEN", cast(Any, 42)),
    ],
    ids=["property", "no init", "reason", "message"],
)
async def test_g10_an_exception_that_cannot_be_told_is_concealed(raised: Exception) -> None:
    """Its own attributes raise, or do not fit: the attempt still ends as a failed one."""
    outcome = await raising(raised)
    assert (outcome.error.code, outcome.effect) == ("EXECUTION_FAILED", "possible")
    assert outcome.info.message == "The operation failed."
    assert outcome.error.cause is raised


async def test_what_a_handler_declares_is_told_as_it_is() -> None:
    outcome = await raising(DeclaredError("Closed on Sundays.", details={"until": "Monday"}))
    assert outcome.info.message == "Closed on Sundays."
    assert (outcome.info.reason, outcome.info.details) == ("DECLARED", {"until": "Monday"})
    assert not outcome.retries
