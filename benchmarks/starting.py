"""Starts workflows that do nothing: what the plugin and a module of 31 capabilities add."""

from collections.abc import Awaitable, Callable
from time import perf_counter_ns
from typing import Final
from uuid import uuid4

from temporalio.client import Client

from .arms import PLAIN
from .figures import Figure, compare
from .scale import Scale
from .start_by_hand import StartByHand
from .start_governed import StartGoverned
from .worker_process import WorkerProcess

_BASE: Final = ("by hand", "by hand again")


async def starting(
    client: Client, worker: WorkerProcess, plain: WorkerProcess, scale: Scale
) -> list[Figure]:
    """Starts workflows of each kind one after the other, in turns.

    Args:
        client: A client of the server.
        worker: The worker with the plugin.
        plain: The worker without it.
        scale: How much to measure.
    """

    async def by_hand() -> object:
        return await _start(client, StartByHand.run, worker)

    async def governed() -> object:
        return await _start(client, StartGoverned.run, worker)

    async def without_plugin() -> object:
        return await _start(client, StartByHand.run, plain)

    arms: dict[str, tuple[WorkerProcess, Callable[[], Awaitable[object]]]] = {
        "by hand": (worker, by_hand),
        "governed": (worker, governed),
        "by hand again": (worker, by_hand),
        PLAIN: (plain, without_plugin),
    }
    times: list[dict[str, float]] = []
    cpus: list[dict[str, float]] = []
    for number in range(scale.series + 1):
        time: dict[str, float] = {}
        cpu: dict[str, float] = {}
        for arm, (where, start) in arms.items():
            before, began = await where.cpu_ns(), perf_counter_ns()
            for _ in range(scale.starts):
                await start()
            time[arm] = (perf_counter_ns() - began) / 1e6 / scale.starts
            cpu[arm] = (await where.cpu_ns() - before) / 1e6 / scale.starts
        if number:  # the first one warms up
            times.append(time)
            cpus.append(cpu)
    imports = await worker.imports()
    return [
        *compare("start", "time", "ms", times, base=_BASE, beside=PLAIN),
        *compare("start", "worker CPU", "ms", cpus, base=_BASE, beside=PLAIN),
        Figure("start", "imports of the catalogue", "governed", imports, "imports", budget=1),
    ]


# The run methods of two workflows.
async def _start(client: Client, run: Callable[..., Awaitable[int]], where: WorkerProcess) -> int:
    result: int = await client.execute_workflow(
        run, id=f"start-{uuid4()}", task_queue=where.task_queue
    )
    return result
