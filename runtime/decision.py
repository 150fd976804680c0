"""What a policy may answer (DESIGN section 4)."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

DEFAULT_APPROVAL_EXPIRY: Final = timedelta(minutes=15)
LONGEST_APPROVAL_EXPIRY: Final = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Allow:
    """The policy has nothing against the request."""


@dataclass(frozen=True, slots=True)
class Deny:
    """The policy refuses; code and message are public.

    Raises:
        TypeError: Code or message is not text.
        ValueError: It cannot be written as UTF-8.
    """

    code: str
    message: str

    def __post_init__(self) -> None:
        _check_text("deny", self.code, self.message)


@dataclass(frozen=True, slots=True)
class Hide:
    """To this requester the capability does not exist (G9)."""


@dataclass(frozen=True, slots=True)
class RequireApproval:
    """A person must approve first.

    Raises:
        TypeError: A reason or type that is not text, an expiry that is no duration.
        ValueError: An expiry of zero, less, or more than 30 days; text that cannot be written as
            UTF-8.
    """

    reason: str
    type: str | None = None
    expires_in: timedelta = DEFAULT_APPROVAL_EXPIRY

    def __post_init__(self) -> None:
        _check_text("require_approval", self.reason, self.type or "")
        if not isinstance(self.expires_in, timedelta):
            raise TypeError("require_approval: expires_in must be a timedelta")
        if not timedelta(0) < self.expires_in <= LONGEST_APPROVAL_EXPIRY:
            raise ValueError(
                f"require_approval: expires_in is {self.expires_in}: "
                f"give more than zero, at most {LONGEST_APPROVAL_EXPIRY.days} days"
            )


Decision = Allow | Deny | Hide | RequireApproval

_ALLOW: Final = Allow()
_HIDE: Final = Hide()


def allow() -> Allow:
    """Nothing against it."""
    return _ALLOW


def deny(code: str, message: str) -> Deny:
    """Refuses the request.

    Args:
        code: The application's own reason code, public, for example ``OVER_LIMIT``.
        message: Public text.
    """
    return Deny(code, message)


def hide() -> Hide:
    """To this requester the capability does not exist."""
    return _HIDE


def require_approval(
    reason: str,
    *,
    type: str | None = None,
    expires_in: timedelta = DEFAULT_APPROVAL_EXPIRY,
) -> RequireApproval:
    """Demands that a person approves.

    Args:
        reason: Shown to the approver.
        type: Who may approve, in the application's own words.
        expires_in: How long the decision may take; more than zero, at most 30 days.
    """
    return RequireApproval(reason, type, expires_in)


def _check_text(what: str, *texts: object) -> None:
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"{what}: what it says must be text")
        try:
            text.encode()
        except UnicodeEncodeError:
            # It travels, and is recorded: a half of a surrogate pair could be neither.
            raise ValueError(f"{what}: what it says must be text that is Unicode") from None
