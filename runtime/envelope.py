"""The envelope: the one answer of one execution (G1).

    ExecutionResult = Completed | ApprovalRequired | Failed | Cancelled

Tell them apart by ``status`` or by class. Each says in ``effect`` what is known of the world, and
carries nothing that the caller may not see (G10).

They are dataclasses rather than pydantic models, because a union of pydantic generics cannot be
given its type argument (``ExecutionResult[Refund]``). Pydantic reads and writes them all the same,
so they travel through workflows, queries and updates as they are.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Literal, NoReturn, TypeVar, cast

from pydantic import JsonValue, TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from .error import CapabilityError, ErrorCode, ErrorInfo
from .identity import idempotency_key
from .names import Effect, Verdict

O_co = TypeVar("O_co", covariant=True)
"""Output; an envelope is read only, so one of a `Refund` is one of an `object` as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Envelope:
    """What all envelopes say.

    Args:
        execution_id: The execution this is the final word on.
        capability: What was asked for.
        attempts: How many attempts it took; 0 where none was started.
        errors: Codes of the attempts before the last, as far as they are known.
        effect: What is known of the world.
        repeat_of: Execution id of the first execution in this workflow that asked for the same
            capability with the same input.
        joined: Execution id of a request that joined an approval which an identical request had
            pending; ``execution_id`` is then the one that was decided on.
        reconciled: What the capability's ``reconcile`` found out, where it was asked.
    """

    execution_id: str
    capability: str
    attempts: int = 1
    errors: tuple[str, ...] = ()
    effect: Effect = "none"
    repeat_of: str | None = None
    joined: str | None = None
    reconciled: Verdict | None = None

    @property
    def idempotency_key(self) -> str:
        """The key that the handler was given (G5)."""
        return idempotency_key(self.execution_id)

    def to_dict(self) -> dict[str, JsonValue]:
        """The envelope as JSON-like data, for a model, a log or a web answer."""
        return cast(dict[str, JsonValue], to_jsonable_python(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed(_Envelope, Generic[O_co]):
    """The handler returned, and this is its output."""

    status: Literal["completed"] = "completed"
    effect: Effect = "done"
    output: O_co

    def unwrap(self) -> O_co:
        """The output."""
        return self.output


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequired(_Envelope):
    """A person must approve first; nothing has run.

    Args:
        reasons: Why, for the approver and the caller.
        types: Who may approve, in the application's own words.
        expires_at: Until when a decision counts, UTC.
        input_hash: The input that an approval is bound to.
        approval_id: The approval's own id, where one was started.
    """

    status: Literal["approval_required"] = "approval_required"
    reasons: tuple[str, ...]
    types: tuple[str, ...] = ()
    expires_at: datetime
    input_hash: str
    approval_id: str | None = None

    def unwrap(self) -> NoReturn:
        """Raises `CapabilityError` with code APPROVAL_REQUIRED."""
        raise CapabilityError("APPROVAL_REQUIRED", details={"reasons": list(self.reasons)})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ended(_Envelope):
    error: ErrorInfo

    @property
    def code(self) -> ErrorCode:
        """The error's code."""
        return self.error.code

    def unwrap(self) -> NoReturn:
        """Raises the error as `CapabilityError`."""
        raise CapabilityError.from_public(self.error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(_Ended):
    """The execution ended with an error."""

    status: Literal["failed"] = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled(_Ended):
    """The caller cancelled; whatever the handler returned afterwards was dropped."""

    status: Literal["cancelled"] = "cancelled"


ExecutionResult = Completed[O_co] | ApprovalRequired | Failed | Cancelled
"""The answer of one execution."""


_ANY = TypeAdapter[Completed[JsonValue] | ApprovalRequired | Failed | Cancelled](
    Completed[JsonValue] | ApprovalRequired | Failed | Cancelled
)


def read_envelope(data: bytes) -> ExecutionResult[object] | None:
    """Reads an envelope whose output is left JSON-like; ``None`` where the JSON is not one."""
    try:
        return cast(ExecutionResult[object], _ANY.validate_json(data))
    except ValidationError:
        return None
