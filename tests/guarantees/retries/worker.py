"""A worker of these capabilities, to be killed and suspended: `HOST QUEUE FOLDER [activities]`.

It takes one activity at a time, and asks for the next one only when it is free: so nothing is
handed to it while it is suspended in a handler. With `activities` it runs no workflows.
"""

import asyncio
import signal
import sys
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client
from temporalio.worker import Worker

from temperance import TemperancePlugin
from temperance.leaving import leave
from tests.guarantees.retries.capabilities import app_in
from tests.guarantees.retries.workflows import Errands, ForeignCode


async def main(host: str, queue: str, folder: str, kind: str = "all") -> None:
    client = await Client.connect(host, plugins=[TemperancePlugin(app_in(Path(folder)))])
    asked_to_end = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asked_to_end.set)
    async with Worker(
        client,
        task_queue=queue,
        workflows=[] if kind == "activities" else [Errands, ForeignCode],
        max_concurrent_activities=1,
        # What a killed worker keeps in its cache is handed to another only after ten seconds.
        max_cached_workflows=0,
        graceful_shutdown_timeout=timedelta(milliseconds=100),
    ):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asked_to_end.wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
    leave(0)
