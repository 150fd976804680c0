"""A worker of the desk, as a process of its own: `python -m support_desk.worker HOST:PORT`.

It runs until it gets SIGTERM, and then lets running attempts finish.
"""

import asyncio
import signal
import sys

from temporalio.client import Client
from temporalio.worker import Worker

from temperance import TemperancePlugin

from .app import app


async def serve(address: str) -> None:
    client = await Client.connect(address, plugins=[TemperancePlugin(app)])
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with Worker(client, task_queue=app.task_queue):
        await stop.wait()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
