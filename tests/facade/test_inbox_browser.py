"""The inbox in a real browser: Chromium, with scripts off unless a test needs an attacker."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from temperance.inbox.serving import bind, served
from temperance.inbox.session import Sessions
from temperance.inbox.settings import InboxSettings
from temperance.inbox.site import make_inbox
from tests.facade.deciding.house import BOB, House, opened
from tests.support.chromium import browsing, chromium
from tests.support.ports import free_port

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium() is None, reason="no Chromium is installed (apt: chromium)"),
]


@dataclass(frozen=True)
class Inbox:
    """A served inbox."""

    house: House
    address: str
    link: str


@pytest.fixture(scope="module")
async def inbox(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Inbox]:
    """The shop, with an inbox in which bob decides."""
    settings = InboxSettings(port=free_port(), approver=BOB)
    sessions = Sessions()
    async with opened(tmp_path_factory.mktemp("house")) as house:
        site = make_inbox(house.approvals, settings, sessions)
        async with served(site, bind(settings)):
            yield Inbox(house, settings.link, f"{settings.link}?key={sessions.key}")


async def test_g3_a_person_clicks_from_the_list_to_a_decision(inbox: Inbox, tmp_path: Path) -> None:
    """From the printed link over list, approval and comment to what came of it; without scripts."""
    approval = await inbox.house.ask("C-1")
    complaints: list[str] = []
    async with browsing(tmp_path) as page:
        page.on("console", lambda message: complaints.append(message.text))
        await page.goto(inbox.link)
        assert page.url == inbox.address
        await page.click(f"a[href$='{approval}']")
        assert await page.locator("h1").inner_text() == "Refund an order, in full or in part."
        style = await page.locator("button.approve").evaluate("b => getComputedStyle(b).cursor")
        assert style == "pointer"
        await page.get_by_label("Comment").fill("Seen the photos.")
        await page.get_by_role("button", name="Approve, and run it once").click()
        await page.get_by_text("What came of it:").wait_for()
        told = await page.locator(".decision").inner_text()
        assert "approved" in told
        assert "By user:bob (web)" in told
        assert "Seen the photos." in told
        assert "completed, 1 attempt; it took effect." in told
        assert await page.locator("form").count() == 0

        await page.get_by_role("link", name="History").click()
        row = page.locator("tr", has=page.locator(f"a[href$='{approval}']"))
        await inbox.house.until_over(approval)
        await page.reload()
        assert "approved" in await row.inner_text()
    assert complaints == []
    assert inbox.house.refunds("C-1") == 1


async def test_g3_a_page_of_another_site_decides_nothing_in_the_browser_of_an_approver(
    inbox: Inbox, tmp_path: Path
) -> None:
    """One of another port of this machine, to which the browser sends the inbox's cookie along."""
    approval = await inbox.house.ask("C-2")
    target = f"{inbox.address}approvals/{approval}"
    attack = (
        f'<form method="post" action="{target}"><input name="verdict" value="approve"></form>'
        "<script>document.forms[0].submit()</script>"
    )
    async with browsing(tmp_path, scripts=True) as page, elsewhere(attack) as address:
        await page.goto(inbox.link)
        assert len(await page.context.cookies(address)) == 1
        await page.goto(address)
        await page.wait_for_url(target)
        assert await page.locator("h1").inner_text() == "Nothing was decided"
    assert (await inbox.house.approvals.show(approval)).state == "pending"


async def test_g3_a_page_of_another_site_cannot_put_the_inbox_into_a_frame(
    inbox: Inbox, tmp_path: Path
) -> None:
    """Where a person would click on what they do not see."""
    async with (
        browsing(tmp_path) as page,
        elsewhere(f'<iframe src="{inbox.address}"></iframe>') as address,
    ):
        await page.goto(inbox.link)
        await page.goto(address)
        framed = page.frame_locator("iframe").locator("h1")
        assert await framed.count() == 0
        assert "Waiting" not in await page.frames[1].content()


@asynccontextmanager
async def elsewhere(html: str) -> AsyncGenerator[str]:
    """A page of another site on this machine; gives its address."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {len(html)}\r\n"
        writer.write(f"{head}connection: close\r\n\r\n{html}".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
