"""Takes the pictures of the inbox in docs/images: python -m tests.docs.inbox_images.

Two tickets of the support desk wait for the shift lead: a new address, and a refund over the limit.
"""

import asyncio
import os
from pathlib import Path
from tempfile import TemporaryDirectory

from temporalio.worker import Worker

from support_desk.app import TASK_QUEUE, app
from support_desk.desk import workflow_id
from support_desk.premises import HOME_VARIABLE, Premises, bundled_stock, bundled_tickets
from support_desk.shift_lead import SHIFT_LEAD
from support_desk.tickets import read_inbox
from support_desk.workflow import SupportTicket
from temperance import Approvals, TemperancePlugin
from temperance.embedded import EmbeddedServer
from temperance.inbox.serving import bind, served
from temperance.inbox.session import Sessions
from temperance.inbox.settings import InboxSettings
from temperance.inbox.site import make_inbox
from tests.support.chromium import browsing
from tests.support.ports import free_port
from tests.support.waiting import wait_until

IMAGES = Path(__file__).parents[2] / "docs" / "images"
WAITING = ("T-1013", "T-1014")


async def main(home: Path) -> None:
    """Has the tickets wait, and looks at them in Chromium."""
    os.environ[HOME_VARIABLE] = str(home)
    Premises(home).create(bundled_stock())
    tickets = {ticket.id: ticket for ticket in read_inbox(bundled_tickets()).tickets}
    async with EmbeddedServer(headless=True) as server:
        client = await server.connect(plugins=[TemperancePlugin(app)])
        async with Worker(client, task_queue=TASK_QUEUE):
            for name in WAITING:
                await client.start_workflow(
                    SupportTicket.run, tickets[name], id=workflow_id(name), task_queue=TASK_QUEUE
                )
            await take_pictures(Approvals(client), home / "profile")


async def take_pictures(approvals: Approvals, profile: Path) -> None:
    """The list, and the page of the refund."""

    async def waiting() -> dict[str | None, str]:
        found = {entry.workflow_id: entry.id async for entry in approvals.list()}
        return found if len(found) == len(WAITING) else {}

    found = await wait_until(waiting)
    refund = found[workflow_id("T-1014")]
    settings = InboxSettings(port=free_port(), approver=SHIFT_LEAD)
    sessions = Sessions()
    async with (
        served(make_inbox(approvals, settings, sessions), bind(settings)),
        browsing(profile, width=900, height=300) as page,
    ):
        await page.goto(f"{settings.link}?key={sessions.key}")
        await page.screenshot(path=IMAGES / "inbox-list.png", full_page=True)
        await page.goto(f"{settings.link}approvals/{refund}")
        await page.get_by_label("Comment").fill("Seen the video. It wobbles.")
        await page.screenshot(path=IMAGES / "inbox-approval.png", full_page=True)


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        asyncio.run(main(Path(folder)))
