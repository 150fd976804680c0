"""A worker in a process of its own, to be killed: `HOST QUEUE AUDIT [open]`.

Says who is entered; with `open` it lets those in that wait at a gate.
"""

import asyncio
import signal
import sys
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client
from temporalio.worker import Worker

from temperance import JsonlSink, TemperancePlugin
from tests.guarantees.local.capabilities import ON_ENTRY, app_of, say
from tests.guarantees.local.workflows import Group, Reader
from tests.guarantees.stopping.scenes import SCENES


async def main(host: str, queue: str, audit: str, gates: str = "shut") -> None:
    """Serve until told to end."""
    ON_ENTRY.append(lambda name: say(f"entered {name.rpartition('-')[2]}"))
    if gates == "open":
        ON_ENTRY.append(lambda name: SCENES[name].gate.set())
    app = app_of([JsonlSink(Path(audit))])
    client = await Client.connect(host, plugins=[TemperancePlugin(app)])
    told_to_end = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told_to_end.set)
    async with Worker(
        client,
        task_queue=queue,
        workflows=[Reader, Group],
        graceful_shutdown_timeout=timedelta(seconds=1),
    ):
        say("ready")
        await told_to_end.wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
