"""Whatever an application's own code may raise, with a secret in it."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any, ClassVar, Final

from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from temperance.runtime.error import CODES, CapabilityError, DeclaredError, ErrorCode
from tests.fuzz.secret import SECRET

Makers = st.SearchStrategy[Callable[[], BaseException]]

NO_JSON: Final[Any] = object()


class Mute(Exception):
    """Cannot be shown, compared or asked for anything."""

    def __str__(self) -> str:
        raise ValueError(SECRET)

    def __repr__(self) -> str:
        raise ValueError(SECRET)

    def __eq__(self, other: object) -> bool:
        raise ValueError(SECRET)

    __hash__ = Exception.__hash__

    @property
    def retry_after(self) -> timedelta:
        """Raises."""
        raise KeyError(SECRET)


class Base(BaseException):
    """Of no kind that anybody catches by name."""


class Odd(DeclaredError):
    """Declared, with a reason of the wrong type."""

    reason: ClassVar[Any] = b"\xff"


class Halfmade(CapabilityError):
    """Forgot to call its base class."""

    def __init__(self) -> None:
        """Leaves every attribute out."""


class Halfdeclared(DeclaredError):
    """Likewise."""

    def __init__(self) -> None:
        """Leaves every attribute out."""


class Later(Exception):
    """Says when to try again, in a way of its own."""

    def __init__(self, after: object) -> None:
        super().__init__(SECRET)
        self.retry_after = after


class _Number(BaseModel):
    number: int


def _invalid() -> ValidationError:
    try:
        _Number.model_validate({"number": SECRET})
    except ValidationError as error:
        return error
    raise AssertionError


def _chained() -> Exception:
    error = RuntimeError("outside")
    error.__cause__ = ValueError(SECRET)
    error.__context__ = Mute(SECRET)
    error.add_note(SECRET)
    return error


def _endless() -> Exception:
    error, other = RuntimeError(SECRET), RuntimeError(SECRET)
    error.__cause__, other.__cause__ = other, error
    return error


ORDINARY: Final[Makers] = st.sampled_from(
    [
        lambda: ValueError(SECRET),
        lambda: KeyError(SECRET),
        lambda: OSError(5, SECRET, SECRET),
        lambda: UnicodeDecodeError("utf-8", SECRET.encode(), 0, 1, SECRET),
        lambda: RecursionError(SECRET),
        lambda: MemoryError(SECRET),
        lambda: TimeoutError(SECRET),
        lambda: StopIteration(SECRET),
        lambda: StopAsyncIteration(SECRET),
        lambda: AssertionError(SECRET),
        lambda: ExceptionGroup(SECRET, [ValueError(SECRET), Mute(SECRET)]),
        lambda: Mute(SECRET),
        lambda: Later(timedelta(milliseconds=1)),
        lambda: Later(timedelta(days=-3)),
        lambda: Later(SECRET),
        lambda: Later(float("nan")),
        lambda: Odd("public"),
        lambda: Odd(details=NO_JSON),
        lambda: DeclaredError("public", details={"a": float("inf")}),
        lambda: DeclaredError("\ud800"),
        Halfmade,
        Halfdeclared,
        _invalid,
        _chained,
        _endless,
    ]
)
"""Makes an exception that ``except Exception`` catches."""

_CODES: Final = st.sampled_from([*CODES])


def _refusal(
    code: ErrorCode, expose: bool, retryable: bool | None, details: Any
) -> Callable[[], BaseException]:
    def make() -> CapabilityError:
        return CapabilityError(
            code,
            "public" if expose else SECRET,
            expose=expose,
            retryable=retryable,
            details=details if expose else SECRET,
            cause=ValueError(SECRET),
        )

    return make


REFUSALS: Final[Makers] = st.builds(
    _refusal,
    _CODES,
    st.booleans(),
    st.none() | st.booleans(),
    st.none() | st.just({"a": [1]}) | st.just("\ud800"),
)
"""Makes an error of the library's own, as middleware may raise it."""

BASE: Final[Makers] = st.sampled_from(
    [
        lambda: SystemExit(SECRET),
        lambda: asyncio.CancelledError(SECRET),
        lambda: GeneratorExit(SECRET),
        lambda: Base(SECRET),
        lambda: BaseExceptionGroup(SECRET, [SystemExit(SECRET)]),
    ]
)
"""Makes an exception that ``except Exception`` does not catch."""

FAULTS: Final[Makers] = ORDINARY | REFUSALS | BASE
"""Makes whatever can be raised, but for KeyboardInterrupt: that is whoever sits at the keyboard."""
