"""The one error of a governed execution, its codes, and what a caller may see of it (G9, G10).

    CapabilityError            everything that ends an attempt without an output
      DeclaredError            raised by a handler to say something that the caller may read
    ConfigurationError         the application is put together wrongly; raised while it starts
      RegistryError            lists every problem of a registry at once
    StepError                  a step id is malformed or repeated in one workflow run

A `CapabilityError` carries two faces: the private one (``cause``, ``audit_reason``) for server-side
records, and the public one, `CapabilityError.public`, which is all that leaves the worker.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, Final, Literal

from pydantic import BaseModel, ConfigDict, JsonValue
from pydantic_core import from_json, to_json

from .canonical import can_travel

Stage = Literal[
    "resolve",
    "exposure",
    "input",
    "actor",
    "policy",
    "approval",
    "execution_policy",
    "controls",
    "handler",
    "output",
    "redaction",
    "transport",
]
"""Where in the pipeline an attempt ended (DESIGN section 5)."""

ErrorCode = Literal[
    "CAPABILITY_NOT_FOUND",
    "INPUT_INVALID",
    "UNAUTHENTICATED",
    "FORBIDDEN",
    "POLICY_DENIED",
    "POLICY_FAILED",
    "APPROVAL_REQUIRED",
    "APPROVAL_PENDING",
    "APPROVAL_REJECTED",
    "APPROVAL_EXPIRED",
    "APPROVAL_CONSUMED",
    "APPROVAL_CANCELLED",
    "APPROVAL_INPUT_MISMATCH",
    "APPROVAL_SELF_APPROVAL",
    "APPROVAL_UNSERIALIZABLE_INPUT",
    "EXECUTION_FAILED",
    "OUTPUT_INVALID",
    "TIMEOUT",
    "CANCELLED",
    "RETRY_FORBIDDEN",
    "RESET_FORBIDDEN",
    "STEP_INPUT_MISMATCH",
    "PAYLOAD_TOO_LARGE",
    "AUDIT_UNAVAILABLE",
    "INTERNAL_ERROR",
]


@dataclass(frozen=True, slots=True)
class CodeEntry:
    """What a code means where nothing more is said.

    Args:
        message: The public message.
        stage: The stage where it usually arises.
        retryable: Whether a further attempt may help, if the capability is eligible for one.
        governed: A decision of the rules rather than a fault: in Temporal, category BENIGN.
    """

    message: str
    stage: Stage
    retryable: bool = False
    governed: bool = False


CODES: Final[Mapping[ErrorCode, CodeEntry]] = {
    "CAPABILITY_NOT_FOUND": CodeEntry("The capability was not found.", "resolve", governed=True),
    "INPUT_INVALID": CodeEntry("The input is not valid.", "input", governed=True),
    "UNAUTHENTICATED": CodeEntry("The requester is not known.", "actor", governed=True),
    "FORBIDDEN": CodeEntry("The requester may not do this.", "handler", governed=True),
    "POLICY_DENIED": CodeEntry("A policy denied the request.", "policy", governed=True),
    "POLICY_FAILED": CodeEntry("A policy could not be evaluated.", "policy"),
    "APPROVAL_REQUIRED": CodeEntry("A person must approve this.", "approval", governed=True),
    "APPROVAL_PENDING": CodeEntry("The approval is not decided yet.", "approval", governed=True),
    "APPROVAL_REJECTED": CodeEntry("The approval was rejected.", "approval", governed=True),
    "APPROVAL_EXPIRED": CodeEntry("The approval has expired.", "approval", governed=True),
    "APPROVAL_CONSUMED": CodeEntry("The approval was already used.", "approval", governed=True),
    "APPROVAL_CANCELLED": CodeEntry("The approval was cancelled.", "approval", governed=True),
    "APPROVAL_INPUT_MISMATCH": CodeEntry(
        "The approved input is not the one to be executed.", "approval", governed=True
    ),
    "APPROVAL_SELF_APPROVAL": CodeEntry(
        "The requester may not approve the request.", "approval", governed=True
    ),
    "APPROVAL_UNSERIALIZABLE_INPUT": CodeEntry(
        "The input cannot be bound to an approval.", "approval", governed=True
    ),
    "EXECUTION_FAILED": CodeEntry("The operation failed.", "handler", retryable=True),
    "OUTPUT_INVALID": CodeEntry("The operation gave an output that is not valid.", "output"),
    "TIMEOUT": CodeEntry("The operation did not finish in time.", "handler", retryable=True),
    "CANCELLED": CodeEntry("The operation was cancelled.", "handler", governed=True),
    "RETRY_FORBIDDEN": CodeEntry(
        "The operation must not be tried again: an earlier attempt may have taken effect.",
        "controls",
    ),
    "RESET_FORBIDDEN": CodeEntry(
        "The operation must not be repeated after a reset: it may already have taken effect.",
        "controls",
    ),
    "STEP_INPUT_MISMATCH": CodeEntry("The same step was recorded with another input.", "controls"),
    "PAYLOAD_TOO_LARGE": CodeEntry("The data is too large to be carried.", "transport"),
    "AUDIT_UNAVAILABLE": CodeEntry(
        "The audit record is not available.", "controls", retryable=True
    ),
    "INTERNAL_ERROR": CodeEntry("The request could not be processed.", "controls", retryable=True),
}
"""Every code with its public message, usual stage and retryability."""

MOST_MESSAGE: Final = 2_000
"""Characters of a public message; a longer one is cut."""

MOST_REASON: Final = 200
"""Characters of a declared reason; a longer one is cut."""

MOST_DETAILS: Final = 65_536
"""Bytes of public details: an error must never be too large to be reported."""

CONCEALED: Final[ErrorCode] = "EXECUTION_FAILED"
"""What the caller sees in place of an error that is not exposed."""


class ErrorInfo(BaseModel):
    """The public face of an error: the only part of it that leaves the worker (G10).

    Args:
        code: One of the codes of `CODES`.
        message: Public text.
        stage: Where the attempt ended.
        retryable: Whether asking again later may help the *caller*; the runtime's own retries are
            over when an envelope carries this.
        reason: The declared reason, for example ``ALREADY_REFUNDED``, or ``None``.
        details: JSON that the caller may read, for example the paths of an invalid input.
    """

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    code: ErrorCode
    message: str
    stage: Stage
    retryable: bool = False
    reason: str | None = None
    details: JsonValue = None


class CapabilityError(Exception):
    """Raised when an execution gives no output; also by ``unwrap`` on the caller's side.

    Args:
        code: One of the codes of `CODES`.
        public_message: Text for the caller; the code's own where it is left out or empty.
        stage: Where it arose; the code's usual one where it is left out.
        retryable: Whether a further attempt may help; the code's own where it is left out.
        expose: Whether the caller may see code, message, reason and details. Where not, it sees
            EXECUTION_FAILED "The operation failed."
        reason: A declared reason such as ``ALREADY_REFUNDED``.
        details: JSON for the caller.
        retry_after: Least delay before a further attempt.
        cause: The original exception, for server-side records only: never sent anywhere.
        audit_reason: The true reason for the audit where the caller sees another (G9).
    """

    def __init__(
        self,
        code: ErrorCode,
        public_message: str | None = None,
        *,
        stage: Stage | None = None,
        retryable: bool | None = None,
        expose: bool = True,
        reason: str | None = None,
        details: JsonValue = None,
        retry_after: timedelta | None = None,
        cause: BaseException | None = None,
        audit_reason: str | None = None,
    ) -> None:
        entry = CODES[code]
        self.code: ErrorCode = code
        # A failure without a message would be given one by the SDK.
        self.public_message = _writable(public_message) if public_message else entry.message
        self.stage: Stage = entry.stage if stage is None else stage
        self.retryable = entry.retryable if retryable is None else retryable
        self.expose = expose
        self.reason = _writable(reason)[:MOST_REASON] if isinstance(reason, str) else reason
        self.details = details
        self.retry_after = retry_after
        self.cause = cause
        self.audit_reason = audit_reason
        super().__init__(code, self.public_message)

    def __str__(self) -> str:
        """Code and public message: safe in any log."""
        return f"{self.code}: {self.public_message}"

    @property
    def governed(self) -> bool:
        """Whether the rules decided this, rather than a fault."""
        return CODES[self.code].governed or self.reason is not None

    def public(self) -> ErrorInfo:
        """The public face, concealed where the error is not exposed.

        Details that are no JSON or too large are replaced by a note that says so: they come from
        handlers and policies, and must not keep the error itself from being reported.
        """
        if self.expose:
            return ErrorInfo(
                code=self.code,
                message=self.public_message[:MOST_MESSAGE],
                stage=self.stage,
                retryable=self.retryable,
                reason=self.reason,
                details=_as_json(self.details),
            )
        return ErrorInfo(code=CONCEALED, message=CODES[CONCEALED].message, stage="handler")

    @classmethod
    def from_public(cls, info: ErrorInfo) -> "CapabilityError":
        """The error that an envelope stands for, on the caller's side."""
        return cls(
            info.code,
            info.message,
            stage=info.stage,
            retryable=info.retryable,
            reason=info.reason,
            details=info.details,
        )


def _writable(text: str) -> str:
    """The text as it can be told: half of a surrogate pair becomes a question mark.

    What is no text stays what it is, and keeps the error from being told (see `public`).
    """
    given: object = text
    if not isinstance(given, str) or given.isascii():
        return text
    return text.encode(errors="replace").decode()


def _as_json(details: object) -> JsonValue:
    if details is None:
        return None
    try:
        data = to_json(details, inf_nan_mode="null")
        plain: JsonValue = from_json(data)
        told = can_travel(data)
    except Exception:  # noqa: BLE001 - objects of the application's own, which may do anything
        told, plain, data = False, None, b""
    if not told:
        return {"omitted": "not JSON"}
    return plain if len(data) <= MOST_DETAILS else {"omitted": f"{len(data)} bytes"}


class DeclaredError(Exception):
    """Raised by a handler to say something that the caller may read.

    Subclass it and give the subclass a ``reason``; everything in a declared error is public::

        class AlreadyRefunded(DeclaredError):
            reason = "ALREADY_REFUNDED"


        raise AlreadyRefunded("The order was refunded on 3 May.", details={"refund": "r-17"})

    Args:
        message: Public text.
        details: JSON that the caller may read.
        retryable: Whether a further attempt may help. False unless given.
        retry_after: Least delay before a further attempt; implies ``retryable``.
    """

    reason: ClassVar[str] = "DECLARED"

    def __init__(
        self,
        message: str = "",
        *,
        details: JsonValue = None,
        retryable: bool = False,
        retry_after: timedelta | None = None,
    ) -> None:
        super().__init__(message)
        self.message = str(message) or CODES["EXECUTION_FAILED"].message
        self.details = details
        self.retryable = retryable or retry_after is not None
        self.retry_after = retry_after

    def as_capability_error(self) -> CapabilityError:
        """This error as the pipeline reports it: EXECUTION_FAILED with the declared reason."""
        return CapabilityError(
            "EXECUTION_FAILED",
            self.message,
            retryable=self.retryable,
            reason=self.reason,
            details=self.details,
            retry_after=self.retry_after,
            cause=self,
        )


class ConfigurationError(Exception):
    """Raised while an application starts, when it is put together wrongly.

    Args:
        problems: What is wrong, where, and what to do; one line each.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))

    def __str__(self) -> str:
        """All problems, one a line."""
        count = len(self.problems)
        head = "1 problem" if count == 1 else f"{count} problems"
        return "\n".join([f"{head} found:", *(f"  - {problem}" for problem in self.problems)])


class RegistryError(ConfigurationError):
    """Raised when a registry is built of capabilities that cannot be governed as declared."""


class StepError(Exception):
    """Raised in workflow code when a step id is malformed or was used before in the same run.

    Nothing was scheduled. The workflow fails with it, its task does not.
    """
