"""A worker under load: `python -m benchmarks.soak.worker HOST governed|plain`.

Says ``"ready"``, then answers each line of its input with one line of JSON: what it is made of at
that moment. Ends with its input. Beside serving, the governed one runs
executions in process all the time.
"""

import asyncio
import gc
import logging
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import count

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Worker

from benchmarks.saying import say
from temperance import Runtime, TemperancePlugin

from . import by_hand
from .by_hand import PlainJourney
from .journey import Journey
from .shop import ADA, CountingSink, Order, app_of, look, ship

TASK_QUEUE = "soak"
PLAIN_QUEUE = "plain"

POOLS = ("temperance-handler", "control-handler", "temporal_workflow_")
"""How threads for `def` handlers, and the SDK's for workflow tasks, are called. A pool makes one
wherever none is idle, up to its size: how many there are says how many were ever busy at once."""

_Cache = type(lru_cache(maxsize=1)(len))


async def main(host: str, kind: str) -> None:
    """Serves until the input ends."""
    logging.disable(logging.WARNING)  # what fails is meant to
    sink = CountingSink()
    if kind == "plain":
        with ThreadPoolExecutor(128, thread_name_prefix=POOLS[1]) as threads:
            async with await plain(host, threads):
                say("ready")
                await answer(sink)
        return
    app = app_of(sink, Journey)
    client = await Client.connect(host, plugins=[TemperancePlugin(app)])
    async with Worker(client, task_queue=TASK_QUEUE, workflows=[Journey], max_cached_workflows=100):
        beside = asyncio.create_task(in_process(Runtime(app)))
        say("ready")
        await answer(sink)
        beside.cancel()


async def plain(host: str, threads: ThreadPoolExecutor) -> Worker:
    """The control: a worker without the library."""
    return Worker(
        await Client.connect(host, data_converter=pydantic_data_converter),
        task_queue=PLAIN_QUEUE,
        workflows=[PlainJourney],
        activities=[by_hand.look, by_hand.pay, by_hand.ship],
        activity_executor=threads,
        max_cached_workflows=100,
    )


async def in_process(runtime: Runtime) -> None:
    """Twenty executions a second without Temporal."""
    for number in count():
        capability = look if number % 2 else ship
        await runtime.invoke(capability, Order(number=number), actor=ADA)
        await asyncio.sleep(0.05)


async def answer(sink: CountingSink) -> None:
    """Tells how big it is, as often as it is asked."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    while await reader.readline():
        gc.collect()
        objects = gc.get_objects()
        names = [thread.name for thread in threading.enumerate()]
        pooled = sum(name.startswith(POOLS) for name in names)
        say(
            {
                "tasks": len(asyncio.all_tasks()),
                "threads": len(names) - pooled,
                "pooled": pooled,
                "objects": len(objects),
                "cached": sum(map(entries, objects)),
                "events": dict(sink.counts),
            }
        )
        del objects


def entries(object_: object) -> int:
    """How many entries it holds, where it is a cache of a function of the library."""
    if isinstance(object_, _Cache) and object_.__module__.startswith("temperance."):
        return object_.cache_info().currsize
    return 0


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
    # The SDK's threads may outlive the interpreter by a moment, and end it with a fatal error then.
    os._exit(0)
