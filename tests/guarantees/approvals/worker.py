"""A worker of these capabilities, to be killed and measured: `HOST QUEUE FOLDER [WHEN] [CACHED]`.

`WHEN` is the moment at which it kills itself, each time: `decision` while a decision is judged,
`record` while an accepted one is recorded. It keeps `CACHED` workflows in memory, and on SIGUSR1
prints how many approvals it holds.
"""

import asyncio
import gc
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client
from temporalio.worker import Worker

from temperance import Actor, Event, JsonlSink, TemperancePlugin
from temperance.runtime.approval import ApprovalRecord
from temperance.runtime.sink import Sink
from temperance.workflows.approval import ApprovalWorkflow
from tests.guarantees.approvals.capabilities import app_of
from tests.guarantees.approvals.workflows import Asking
from tests.guarantees.runs.books import Books


class Dying:
    """A sink that ends its process when it is to record a decision."""

    def record(self, event: Event) -> None:
        """Record nothing."""
        if event.type == "capability.approved":
            os.kill(os.getpid(), signal.SIGKILL)


def dying(_: Actor, __: ApprovalRecord) -> bool:
    """Judge nothing."""
    os.kill(os.getpid(), signal.SIGKILL)
    return True


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def count() -> None:
    """Print how many approvals are in memory."""
    gc.collect()
    say(f"holds {sum(isinstance(entry, ApprovalWorkflow) for entry in gc.get_objects())}")


async def main(host: str, queue: str, folder: str, when: str = "never", cached: str = "0") -> None:
    """Work until SIGTERM."""
    books = Books(Path(folder))
    sinks: list[Sink] = [JsonlSink(books.audit_path), *([Dying()] if when == "record" else [])]
    app = app_of(books, sinks, may_approve=dying if when == "decision" else None)
    client = await Client.connect(host, plugins=[TemperancePlugin(app)])
    asked_to_end = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, asked_to_end.set)
    loop.add_signal_handler(signal.SIGUSR1, count)
    async with Worker(
        client,
        task_queue=queue,
        workflows=[Asking],
        # What a killed worker keeps for itself is handed to another only after ten seconds.
        max_cached_workflows=int(cached),
        graceful_shutdown_timeout=timedelta(milliseconds=100),
    ):
        say("ready")
        await asked_to_end.wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
    # Not through the interpreter's own end: one of the SDK's threads may still ask for it then.
    os._exit(0)
