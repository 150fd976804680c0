"""A worker of these payments in a process of its own: `HOST QUEUE FOLDER`."""

import asyncio
import signal
import sys
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client
from temporalio.worker import Worker

from temperance import JsonlSink, TemperancePlugin
from temperance.leaving import leave
from tests.guarantees.reconcile.gateway import Gateway
from tests.guarantees.reconcile.payments import app_of
from tests.guarantees.reconcile.workflows import Pays


async def main(host: str, queue: str, folder: str) -> None:
    """Serve until told to end, or until a payment ends the process."""
    gateway = Gateway(Path(folder))
    plugin = TemperancePlugin(app_of(gateway, [JsonlSink(gateway.audit_path)]))
    told_to_end = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told_to_end.set)
    async with Worker(
        await Client.connect(host, plugins=[plugin]),
        task_queue=queue,
        workflows=[Pays],
        # What a killed worker keeps in its cache is handed to another only after ten seconds.
        max_cached_workflows=0,
        graceful_shutdown_timeout=timedelta(milliseconds=100),
    ):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await told_to_end.wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
    leave(0)
