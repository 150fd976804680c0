"""Sessions and form tokens: nothing is decided by a request that a page of ours did not begin.

A session is a random name signed with a secret of this process. A form's token is signed over the
session, the approver and the approval, so it is of no use to another page, another person or
another approval (signed double submit). After a restart everybody begins anew.
"""

import hmac
import json
import secrets
from dataclasses import dataclass, field
from hashlib import sha256


def _secret() -> bytes:
    return secrets.token_bytes(32)


def _key() -> str:
    return secrets.token_urlsafe(24)


@dataclass(frozen=True, slots=True)
class Sessions:
    """The sessions of one process.

    Args:
        secret: Signs; never leaves the process.
        key: Opens a session where one approver decides everything: part of the printed link.
    """

    secret: bytes = field(default_factory=_secret, repr=False)
    key: str = field(default_factory=_key, repr=False)

    def begin(self) -> str:
        """A new session: the value of its cookie."""
        name = secrets.token_urlsafe(18)
        return f"{name}.{self._sign('session', name)}"

    def holds(self, cookie: str) -> bool:
        """Whether this process began the session."""
        name, _, signature = cookie.partition(".")
        return _equal(signature, self._sign("session", name))

    def opens(self, key: str) -> bool:
        """Whether the key is that of the printed link."""
        return _equal(key, self.key)

    def token(self, session: str, approver: str, approval: str) -> str:
        """What the form of an approval carries."""
        return self._sign("form", session, approver, approval)

    def allows(self, token: str, session: str, approver: str, approval: str) -> bool:
        """Whether a form was given to this approver, in this session, for this approval."""
        return _equal(token, self.token(session, approver, approval))

    def sealed(self, page: str) -> str:
        """A page's token for an address: the server needs seconds to refuse one it never gave."""
        return f"{page}.{self._sign('page', page)}"

    def unsealed(self, sealed: str) -> str | None:
        """The page's token, or ``None`` where this process did not seal it."""
        page, _, signature = sealed.partition(".")
        return page if _equal(signature, self._sign("page", page)) else None

    def _sign(self, *parts: str) -> str:
        return hmac.new(self.secret, json.dumps(parts).encode(), sha256).hexdigest()


def _equal(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())
