"""How an inbox is set up: who decides in it, and under which addresses it is reached."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from temperance.runtime.actor import Actor
from temperance.runtime.error import ConfigurationError

_HEADER: Final = re.compile(r"[A-Za-z0-9-]{1,100}")
_LOCAL_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxSettings:
    """How an inbox is set up. Either ``approver`` or ``approver_header`` is given.

    Args:
        host: Where it listens; this machine only, unless ``remote``.
        port: Where it listens.
        approver: Decides everything here: for one person on a machine of their own. The page opens
            with the link that `serve` prints, because every program of the machine can reach it.
        approver_header: The request header in which the login in front of the inbox says who is
            there, as kind ``user``. That login must set it on every request, and nothing else may
            reach the inbox.
        url: The address under which people reach it, such as ``https://approvals.example.com``;
            needed behind a proxy. Requests for any other are refused.
        remote: Whether it may listen where other machines reach it.

    Raises:
        ConfigurationError: Lists what does not go together.
    """

    host: str = "127.0.0.1"
    port: int
    approver: Actor | None = None
    approver_header: str | None = None
    url: str | None = None
    remote: bool = False

    def __post_init__(self) -> None:
        problems = [*self._problems_of_approver(), *self._problems_of_address()]
        if problems:
            raise ConfigurationError(problems)

    @property
    def hosts(self) -> frozenset[str]:
        """What a request's Host header may say, in lower case (against DNS rebinding)."""
        return frozenset(urlsplit(origin).netloc for origin in self.origins)

    @property
    def origins(self) -> frozenset[str]:
        """What the Origin header of a decision may say."""
        local = {f"http://{name}:{self.port}" for name in (*_LOCAL_NAMES, _bracketed(self.host))}
        if self.port == 80:
            local |= {f"http://{name}" for name in _LOCAL_NAMES}
        return frozenset(local if self.url is None else {*local, self.url.lower().rstrip("/")})

    @property
    def secure(self) -> bool:
        """Whether people reach it by HTTPS only."""
        return self.url is not None and self.url.lower().startswith("https:")

    @property
    def link(self) -> str:
        """Where people reach it, with a slash at the end."""
        own = f"http://{_bracketed(self.host)}:{self.port}"
        return f"{(self.url or own).rstrip('/')}/"

    def _problems_of_approver(self) -> list[str]:
        if (self.approver is None) == (self.approver_header is None):
            return ["either one approver decides, or the header of a login says who: give one"]
        if self.approver_header is not None and not _HEADER.fullmatch(self.approver_header):
            return ["the approver header is no name of a header, such as X-Forwarded-User"]
        if self.approver is not None and self.approver.kind == "anonymous":
            return ["nobody in particular cannot decide: name a user, service or automation"]
        return []

    def _problems_of_address(self) -> list[str]:
        problems: list[str] = []
        if self.url is not None and not _is_origin(self.url):
            problems.append(
                f"{self.url!r} is no address of an inbox: give scheme and host, such as "
                "https://approvals.example.com"
            )
        if is_loopback(self.host):
            return problems
        if not self.remote:
            problems.append(f"other machines reach {self.host}: that has to be wanted expressly")
        if self.approver_header is None:
            problems.append(f"on {self.host} a login in front has to say who decides")
        if self.url is None:
            problems.append(f"on {self.host} the address under which people reach it is needed")
        return problems


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens there."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _is_origin(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port_is_one = parts.port is None or 0 < parts.port < 65536
    except ValueError:
        return False
    named = parts.hostname is not None and parts.username is None
    bare = not (parts.path.strip("/") or parts.query or parts.fragment)
    return parts.scheme in {"http", "https"} and named and bare and port_is_one
