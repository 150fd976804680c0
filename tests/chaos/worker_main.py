"""A worker of a chaos run: `HOST QUEUE FOLDER --build old|new`. When it dies another is started.

It forgets most workflows after their tasks, so that replays are common.
"""

import argparse
import asyncio
import logging
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client
from temporalio.worker import Worker

from temperance import JsonlSink, TemperancePlugin
from tests.chaos.capabilities import app_of
from tests.chaos.ledger import Ledger
from tests.chaos.workflows import Chaos


async def main(host: str, queue: str, folder: Path, *, old: bool) -> None:
    """Serve until told to end."""
    sink = JsonlSink(folder / "audit" / f"{os.getpid()}.jsonl")
    app = app_of(Ledger(folder / "ledger.db"), [sink], old=old)
    client = await Client.connect(host, plugins=[TemperancePlugin(app)])
    told_to_end = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told_to_end.set)
    async with Worker(
        client,
        task_queue=queue,
        workflows=[Chaos],
        max_cached_workflows=20,
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=1),
        graceful_shutdown_timeout=timedelta(milliseconds=300),
    ):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await told_to_end.wait()


if __name__ == "__main__":
    # Workers that die and servers that go make much noise; what matters is in the ledger.
    logging.disable(logging.ERROR)
    parser = argparse.ArgumentParser()
    parser.add_argument("host")
    parser.add_argument("queue")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--build", choices=["old", "new"], default="new")
    given = parser.parse_args()
    asyncio.run(main(given.host, given.queue, given.folder, old=given.build == "old"))
