"""Who is at the door. The inbox believes its settings and the login in front of it, nobody else."""

from dataclasses import dataclass, field

from pydantic import ValidationError
from starlette.requests import Request

from temperance.inbox.session import Sessions
from temperance.inbox.settings import InboxSettings
from temperance.runtime.actor import Actor


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who may look, and decide.

    Args:
        actor: Who it is.
        session: The value of the session's cookie.
        is_new: Whether the cookie is still to be set.
    """

    actor: Actor
    session: str = field(repr=False)
    is_new: bool = False


class Turned(Exception):
    """Raised for a visitor who is turned away.

    Args:
        why: What to tell, and what to do.
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def cookie_name(settings: InboxSettings) -> str:
    """The session's cookie. Cookies do not tell ports apart, so the name does."""
    return f"{'__Host-' if settings.secure else ''}temperance_inbox_{settings.port}"


def visitor_of(request: Request, settings: InboxSettings, sessions: Sessions) -> Visitor:
    """The visitor who sent a request.

    Raises:
        Turned: Nobody knows who it is.
    """
    cookie = request.cookies.get(cookie_name(settings), "")
    known = sessions.holds(cookie)
    if settings.approver is not None:
        if not known:
            raise Turned(
                "Open the inbox with the link that `temperance approvals serve` printed when it "
                "was started. It was started anew since the one that you have."
                if cookie
                else "Open the inbox with the link that `temperance approvals serve` printed."
            )
        return Visitor(settings.approver, cookie)
    actor = _named_by(request, settings.approver_header or "")
    return Visitor(actor, cookie) if known else Visitor(actor, sessions.begin(), is_new=True)


def _named_by(request: Request, header: str) -> Actor:
    name = header.lower().encode()
    values = [value for key, value in request.scope["headers"] if key == name]
    if not values:
        raise Turned(
            f"The login in front of this inbox did not say who you are: the header {header} is "
            "missing. Reach the inbox through that login."
        )
    if len(values) > 1:
        raise Turned(
            f"The header {header} came {len(values)} times, so it is not clear who you are: the "
            "login in front of this inbox has to replace it, not to add to it."
        )
    try:
        return Actor(id=values[0].decode(), kind="user")
    except (UnicodeDecodeError, ValidationError):
        raise Turned(f"The header {header} does not hold a well-formed name.") from None
