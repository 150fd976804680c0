"""Starts workflows: what the plugin and a module of 31 capabilities add to one that does nothing."""

from time import perf_counter_ns
from uuid import uuid4

from temporalio.client import Client

from .figures import Figure, compare
from .scale import Scale
from .start_by_hand import StartByHand
from .start_governed import StartGoverned
from .worker_process import WorkerProcess

_KINDS = {
    "by hand": StartByHand,
    "governed": StartGoverned,
    "by hand again": StartByHand,
}


async def starting(
    client: Client, worker: WorkerProcess, task_queue: str, scale: Scale
) -> list[Figure]:
    """Starts workflows of each kind one after the other, in turns.

    Args:
        client: A client of the server.
        worker: The worker.
        task_queue: Where it listens.
        scale: How much to measure.
    """
    times: list[dict[str, float]] = []
    cpus: list[dict[str, float]] = []
    for number in range(scale.replays + 1):
        time: dict[str, float] = {}
        cpu: dict[str, float] = {}
        for arm, kind in _KINDS.items():
            before, began = await worker.cpu_ns(), perf_counter_ns()
            for _ in range(scale.starts):
                await client.execute_workflow(
                    kind.run, id=f"start-{uuid4()}", task_queue=task_queue
                )
            time[arm] = (perf_counter_ns() - began) / 1e6 / scale.starts
            cpu[arm] = (await worker.cpu_ns() - before) / 1e6 / scale.starts
        if number:  # the first one warms up
            times.append(time)
            cpus.append(cpu)
    base = ("by hand", "by hand again")
    return [
        *compare("start", "time", "ms", times, base=base),
        *compare("start", "worker CPU", "ms", cpus, base=base),
        Figure(
            "start", "imports of the catalogue", "governed", await worker.imports(), "imports", budget=1
        ),
    ]
