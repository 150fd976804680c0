"""A worker under test: `python -m benchmarks.worker HOST TASK_QUEUE FOLDER governed|plain|local`.

Governed and local workers have the plugin, plain ones do not know of it. Says ``"ready"``, then
answers each line of its input with one line of JSON: ``cpu`` with the processor time of the process
in nanoseconds, ``laps`` with what the stopwatch noted, ``imports`` with how often the catalogue was
imported. Ends with its input.
"""

import asyncio
import os
import sys
from dataclasses import asdict
from pathlib import Path
from time import process_time_ns
from typing import TextIO

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Worker

from temperance import App, Governance, TemperancePlugin

from . import imports, reads, stopwatch
from .audit import NullSink, SinkByCapability, json_lines
from .by_hand import ByHand
from .catalogue import CATALOGUE
from .orders import give_back, refund, settle
from .saying import say
from .start_by_hand import StartByHand
from .start_governed import StartGoverned
from .workflows import Alternating, Repeating


async def main(host: str, task_queue: str, folder: Path, kind: str) -> None:
    with (folder / f"{kind}.jsonl").open("w") as audit:
        make = {"governed": governed, "local": local}.get(kind, plain)
        async with await make(host, task_queue, audit):
            say("ready")
            await answer()


async def governed(host: str, task_queue: str, audit: TextIO) -> Worker:
    sink = SinkByCapability({refund.id: NullSink(), settle.id: json_lines(audit)})
    app = App(Governance([refund, settle, *CATALOGUE]), sinks=[sink])
    plugin = TemperancePlugin(app, passthrough=[stopwatch.__name__, imports.__name__])
    return Worker(
        await Client.connect(host, plugins=[plugin]),
        task_queue=task_queue,
        workflows=[Alternating, Repeating, StartByHand, StartGoverned],
        activities=[give_back],
        workflow_failure_exception_types=[
            Exception
        ],  # a mistake ends the run, instead of hanging it
    )


async def local(host: str, task_queue: str, audit: TextIO) -> Worker:
    del audit
    app = App(Governance([reads.near, reads.far]), sinks=[NullSink()])
    plugin = TemperancePlugin(app, passthrough=[stopwatch.__name__])
    return Worker(
        await Client.connect(host, plugins=[plugin]),
        task_queue=task_queue,
        workflows=[reads.Reads],
        activities=[reads.by_hand],
        workflow_failure_exception_types=[
            Exception
        ],  # a mistake ends the run, instead of hanging it
    )


async def plain(host: str, task_queue: str, audit: TextIO) -> Worker:
    del audit
    return Worker(
        await Client.connect(host, data_converter=pydantic_data_converter),
        task_queue=task_queue,
        workflows=[ByHand, StartByHand],
        activities=[give_back],
        workflow_failure_exception_types=[
            Exception
        ],  # a mistake ends the run, instead of hanging it
    )


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


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4]))
    # The SDK's threads may outlive the interpreter by a moment, and end it with a fatal error then.
    os._exit(0)
