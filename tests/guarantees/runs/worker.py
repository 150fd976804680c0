"""A worker of these workflows in a process of its own: `HOST QUEUE FOLDER`.

It forgets a workflow after each of its tasks, so that every task is a replay.
"""

import asyncio
import signal
import sys
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client
from temporalio.worker import Worker

from temperance import JsonlSink, TemperancePlugin
from tests.guarantees.runs.books import Books
from tests.guarantees.runs.capabilities import app_of
from tests.guarantees.runs.tagged import Tagged
from tests.guarantees.runs.workflows import Script


async def main(host: str, queue: str, folder: str) -> None:
    """Serve until told to end."""
    books = Books(Path(folder))
    app = app_of(books, [JsonlSink(books.audit_path)])
    client = await Client.connect(host, plugins=[TemperancePlugin(app)])
    told_to_end = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told_to_end.set)
    async with Worker(
        client,
        task_queue=queue,
        workflows=[Script, Tagged],
        max_cached_workflows=0,
        graceful_shutdown_timeout=timedelta(milliseconds=100),
    ):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await told_to_end.wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
