"""The shop with a server of its own, so that nobody else's approvals are in its lists."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from temporalio.client import Client
from temporalio.worker import Worker

from temperance import Actor, App, ApprovalRequired, TemperanceClient, TemperancePlugin
from temperance.approval_listing import ApprovalSummary, Which
from temperance.approvals import Approvals
from temperance.embedded import EmbeddedServer
from tests.facade.deciding.shop import Refund, app_of
from tests.support.waiting import wait_until

DESK = Actor(id="support-desk", kind="automation")
"""Who asks."""

BOB = Actor(id="bob")
"""Who decides."""


@dataclass(frozen=True)
class House:
    """The shop, served by this process."""

    server: EmbeddedServer
    client: Client
    app: App
    book: Path

    @property
    def approvals(self) -> Approvals:
        """What people decide."""
        return Approvals(self.client)

    async def ask(
        self, order: str, capability: str = "shop.refund", *, actor: Actor = DESK, note: str = ""
    ) -> str:
        """Asks for a refund, and gives the id of its approval once it is listed."""
        client = TemperanceClient(self.client, self.app, actor=actor)
        envelope = await client.invoke(capability, Refund(order=order, note=note).model_dump())
        assert isinstance(envelope, ApprovalRequired), envelope
        assert envelope.approval_id is not None
        await self.until_listed([envelope.approval_id])
        return envelope.approval_id

    async def listed(self, which: Which = "all") -> dict[str, ApprovalSummary]:
        """What is listed, by id."""
        return {entry.id: entry async for entry in self.approvals.list(which)}

    async def until_listed(self, ids: Sequence[str], which: Which = "all") -> None:
        """Visibility follows a little later."""

        async def all_there() -> bool:
            return set(ids) <= set(await self.listed(which))

        await wait_until(all_there)

    async def until_over(self, approval: str) -> None:
        """Waits for the outcome, and until the list has it."""
        await self.approvals.outcome(approval)
        await self.until_listed([approval], "closed")

    def refunds(self, order: str) -> int:
        """How often an order was refunded."""
        return self.book.read_text().splitlines().count(order) if self.book.exists() else 0


@asynccontextmanager
async def opened(folder: Path) -> AsyncGenerator[House]:
    """The shop with a worker."""
    app = app_of(folder / "book")
    async with EmbeddedServer(headless=True) as server:
        client = await server.connect(plugins=[TemperancePlugin(app)])
        async with Worker(client, task_queue=app.task_queue):
            yield House(server, client, app, folder / "book")
