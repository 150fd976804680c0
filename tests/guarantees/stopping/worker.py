"""A worker of the activities alone, to be killed: `HOST QUEUE`. Prints a line for each entry."""

import asyncio
import sys
from datetime import timedelta

from temporalio.client import Client
from temporalio.worker import Worker

from temperance import TemperancePlugin
from tests.guarantees.stopping.capabilities import app_with
from tests.guarantees.stopping.scenes import ON_ENTRY


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def main(host: str, queue: str) -> None:
    ON_ENTRY.append(lambda: say("entered"))
    client = await Client.connect(host, plugins=[TemperancePlugin(app_with())])
    async with Worker(
        client, task_queue=queue, graceful_shutdown_timeout=timedelta(milliseconds=1)
    ):
        say("ready")
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
