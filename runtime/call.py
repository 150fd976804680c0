"""What a driver hands to the attempt code, and what it gets back (DESIGN section 5).

A driver is whoever starts attempts: `Runtime` in process, the activity on Temporal. Both call the
same attempt code with a `Call` and turn its `Outcome` into an envelope or a failure.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from pydantic import JsonValue

from .actor import Actor
from .approval import Grant
from .error import CapabilityError, ErrorInfo
from .names import Effect, Surface
from .request import WorkflowRef

Interruption = Literal["cancelled", "shutdown", "paused", "lost"]
"""Why a running attempt was interrupted from outside.

``lost``: the server has closed this attempt already (it timed out there, or its workflow is gone),
so whatever this one reports is refused, and recording the end is left to whoever saw it.
"""


def caller_cancelled() -> Interruption:
    """The interruption of a driver that knows of no other: the caller's cancellation."""
    return "cancelled"


def not_known() -> bool:
    """Of a driver that knows of interruptions only what the attempt's task knows itself."""
    return False


class Call(NamedTuple):
    """One attempt as its driver asks for it.

    A tuple, because one is made for every attempt: a frozen dataclass of so many fields takes a
    microsecond more.

    Args:
        capability_id: What is asked for, as it was asked.
        raw: The raw input: ``bytes`` are JSON, anything else is a Python value.
        actor: The requester; ``None`` where the driver could not read one.
        surface: Through which door.
        execution_id: The execution this attempt belongs to.
        attempt: 1 for the first.
        earlier_errors: Codes of the attempts before, as far as they are known.
        entered_before: That the handler was entered before, whatever the attempt's number says.
        earlier_effect: ``possible`` where an attempt before may have entered the handler.
        attempts_allowed: How many attempts whoever schedules them will start, ``None`` for no
            limit. The metadata's own limit holds beside it.
        available: How long whoever scheduled the attempt gives it, from its beginning; ``None`` for
            no limit. The capability's own timeout holds beside it.
        grant: The approval that authorizes this execution; the driver vouches for where it came
            from.
        repeat_of: First execution in this workflow that asked for the same.
        correlation_id: The application's own id.
        workflow: Where on Temporal.
        output_limit: Largest output in bytes of JSON, or ``None``.
        interrupted: Whether the driver knows that the attempt was interrupted, also where the
            application took the cancellation of its task back.
        interruption: Says why the attempt was interrupted, once it was.
        entered: Called right before the handler is entered.
        lost: Asked before an end is recorded: whether the driver has given the attempt up, so that
            nothing it reports counts.
        forbidden: Why the handler must not be entered, where the driver knows a reason of its own.
            Raised once the request is admitted: it tells nothing to who may not ask at all.
        earlier_series: Attempts of the series before, where the execution is run again: the limit
            of the metadata is each series' own.
        rerun: That this run follows another one in which the same attempt of the same execution may
            have been recorded: its events are told apart by the run id.
    """

    capability_id: str
    raw: object
    actor: Actor | None
    surface: Surface
    execution_id: str
    attempt: int = 1
    earlier_errors: tuple[str, ...] = ()
    earlier_effect: Effect = "none"
    entered_before: bool = False
    attempts_allowed: int | None = None
    available: timedelta | None = None
    grant: Grant | None = None
    repeat_of: str | None = None
    correlation_id: str | None = None
    workflow: WorkflowRef | None = None
    output_limit: int | None = None
    interrupted: Callable[[], bool] = not_known
    interruption: Callable[[], Interruption] = caller_cancelled
    entered: Callable[[], None] | None = None
    lost: Callable[[], Awaitable[bool]] | None = None
    forbidden: CapabilityError | None = None
    rerun: bool = False
    earlier_series: int = 0

    def __repr__(self) -> str:
        """Whose attempt it is; not the input, which may end in a log."""
        return (
            f"Call({self.capability_id!r}, {self.surface!r}, execution_id={self.execution_id!r}, "
            f"attempt={self.attempt})"
        )


class Returned(NamedTuple):
    """The handler returned a valid output.

    Args:
        output: The validated and redacted output.
        json: The same as JSON.
        effect: ``done``; less where middleware answered and the handler was never entered.
    """

    output: object
    json: bytes
    effect: Effect = "done"

    def __repr__(self) -> str:
        """The effect; not the output, which may end in a log."""
        return f"Returned(effect={self.effect!r})"


@dataclass(frozen=True, slots=True)
class Asked:
    """A person must approve; the handler was not entered.

    Args:
        reasons: Why.
        types: Who may approve.
        expires_at: Until when.
        input_hash: The input that an approval would be bound to.
        input: The validated input as bytes of JSON: the value that would run.
        shown: The same as approvers see it.
    """

    reasons: tuple[str, ...]
    types: tuple[str, ...]
    expires_at: datetime
    input_hash: str
    input: bytes = field(default=b"null", repr=False)
    shown: JsonValue = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Broke:
    """The attempt ended without an output.

    Args:
        error: Why.
        info: What the caller is told of it.
        effect: What is known of the world after all attempts so far.
        retries: Whether a further attempt follows.
        interruption: Set where it was interrupted from outside.
    """

    error: CapabilityError
    info: ErrorInfo
    effect: Effect
    retries: bool = False
    interruption: Interruption | None = None


Outcome = Returned | Asked | Broke
