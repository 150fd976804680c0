"""An inbox asked in process, as a browser asks: with a Host, an Origin, and its cookies."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from html import unescape
from typing import Self

import httpx

from temperance import Actor
from temperance.approvals import Approvals
from temperance.inbox.session import Sessions
from temperance.inbox.settings import InboxSettings
from temperance.inbox.site import make_inbox
from tests.facade.deciding.house import BOB, House

ORIGIN = "http://127.0.0.1:8234"
URL = "https://approvals.example.com"


class Browser(httpx.AsyncClient):
    """One browser, at one inbox.

    Args:
        inbox: The settings of the inbox, and its sessions.
        approvals: What it shows.
        origin: The address in the browser's address bar.
    """

    def __init__(
        self,
        approvals: Approvals,
        settings: InboxSettings,
        sessions: Sessions,
        *,
        origin: str = ORIGIN,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(
            transport=httpx.ASGITransport(make_inbox(approvals, settings, sessions)),
            base_url=origin,
            headers=headers,
        )
        self.origin = origin
        self.key = sessions.key

    @classmethod
    @asynccontextmanager
    async def of(
        cls, house: House, approver: Actor = BOB, sessions: Sessions | None = None
    ) -> AsyncGenerator[Self]:
        """A browser that came with the printed link, and decides as this approver."""
        settings = InboxSettings(port=8234, approver=approver)
        async with cls(house.approvals, settings, sessions or Sessions()) as browser:
            opened = await browser.get("/", params={"key": browser.key})
            assert opened.status_code == 303
            yield browser

    @classmethod
    def behind_login(
        cls, house: House, name: str, sessions: Sessions | None = None, **more: str
    ) -> Self:
        """A browser behind a login that names its user."""
        settings = InboxSettings(port=8234, approver_header="X-Forwarded-User", url=URL)
        headers = {"X-Forwarded-User": name, **more}
        return cls(house.approvals, settings, sessions or Sessions(), origin=URL, headers=headers)

    async def token(self, approval: str) -> str:
        """What the form on an approval's page carries."""
        page = await self.get(f"/approvals/{approval}")
        found = re.search(r'name="token" value="(\w+)"', page.text)
        assert found is not None, page.text
        return found[1]

    async def submit(
        self, approval: str, headers: dict[str, str] | None = None, /, **fields: str
    ) -> httpx.Response:
        """Sends the form of an approval."""
        sent = {"origin": self.origin} if headers is None else headers
        return await self.post(f"/approvals/{approval}", data=fields, headers=sent)

    async def decide(self, approval: str, verdict: str, comment: str = "") -> httpx.Response:
        """Opens the page of an approval, and sends its form."""
        token = await self.token(approval)
        return await self.submit(approval, token=token, verdict=verdict, comment=comment)


def text_of(page: httpx.Response) -> str:
    """What a person reads on a page."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page.text)).split())
