"""The worker under test, in a process of its own: `python -m benchmarks.worker HOST TASK_QUEUE FOLDER`.

Says ``"ready"``, then answers each line of its input with one line of JSON: ``cpu`` with the processor time
of the process in nanoseconds, ``laps`` with what the stopwatch noted, ``imports`` with how often the catalogue
was imported. Ends with its input.
"""

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path
from time import process_time_ns

from temporalio.client import Client
from temporalio.worker import Worker

from temperance import App, Governance, TemperancePlugin

from . import imports, stopwatch
from .audit import NullSink, SinkByCapability, json_lines
from .catalogue import CATALOGUE
from .orders import give_back, refund, settle
from .start_by_hand import StartByHand
from .start_governed import StartGoverned
from .workflows import Alternating, Repeating


async def main(host: str, task_queue: str, folder: Path) -> None:
    with (folder / "audit.jsonl").open("wb") as audit:
        sink = SinkByCapability({refund.id: NullSink(), settle.id: json_lines(audit)})
        app = App(Governance([refund, settle, *CATALOGUE]), sinks=[sink])
        plugin = TemperancePlugin(app, passthrough=[stopwatch.__name__, imports.__name__])
        client = await Client.connect(host, plugins=[plugin])
        worker = Worker(
            client,
            task_queue=task_queue,
            workflows=[Alternating, Repeating, StartByHand, StartGoverned],
            activities=[give_back],
            max_cached_workflows=1000,
        )
        async with worker:
            say("ready")
            await answer()


async def answer() -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    while line := await reader.readline():
        match line.strip():
            case b"cpu":
                say(process_time_ns())
            case b"laps":
                say([asdict(lap) for lap in stopwatch.take_laps()])
            case b"imports":
                say(imports.counted())
            case unknown:
                raise ValueError(f"unknown command {unknown!r}")


def say(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
