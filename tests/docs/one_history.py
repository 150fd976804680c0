"""The history that docs/explanation tells: made once on a real server, and replayed by the tests.

python -m tests.docs.one_history     writes docs/explanation/one-history.json anew
"""

import asyncio
from pathlib import Path

from temporalio.worker import Worker

from temperance import App, Governance, MemorySink
from temperance.embedded import EmbeddedServer
from temperance.plugin import TemperancePlugin
from tests.docs.history_capabilities import lookup, refund, send
from tests.docs.history_workflow import Ticket
from tests.support.waiting import wait_until

HISTORY = Path(__file__).parents[2] / "docs/explanation/one-history.json"


def make_app() -> App:
    """The application of this history."""
    return App(Governance([lookup, refund, send]), sinks=[MemorySink()], workflows=[Ticket])


async def main() -> None:
    """Makes the history: one worker up to the refund, another from there on."""
    plugin = TemperancePlugin(make_app())
    async with EmbeddedServer() as server:
        client = await server.connect(plugins=[plugin])
        async with Worker(client, task_queue="desk", identity="worker-a"):
            handle = await client.start_workflow(
                Ticket.run, "o-17", id="ticket-17", task_queue="desk"
            )
            await wait_until(lambda: handle.query(Ticket.refunded))
        async with Worker(client, task_queue="desk", identity="worker-b"):
            await handle.signal(Ticket.go_on)
            await handle.result()
        history = await handle.fetch_history()
        HISTORY.write_text(history.to_json().replace(client.identity, "starter") + "\n")


if __name__ == "__main__":
    asyncio.run(main())
