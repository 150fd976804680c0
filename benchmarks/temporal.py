"""Governed executions against hand-written activities, on the embedded server.

Sequential: the arms take turns, activity by activity, inside one workflow; a block is one such
workflow, and beside it one on a worker without the plugin. Concurrent: 50 workflows of one arm at a
time; a block is one such batch of each arm, in turns. Processor time is that of the whole worker.
"""

import asyncio
from collections.abc import Callable, Sequence
from statistics import mean
from time import perf_counter_ns
from typing import Any, Final
from uuid import uuid4

from temporalio.client import Client, WorkflowHandle

from .arms import ARMS, PLAIN, TURNS
from .by_hand import ByHand
from .figures import Figure, compare, trimmed_mean
from .history import Trace, traces_of
from .orders import refund, settle
from .scale import Scale
from .stopwatch import Lap
from .worker_process import WorkerProcess
from .workflows import Alternating, Repeating

RATIO: Final = 1.03
"""The most that time and processor time may be, against by hand."""

BYTES: Final = 160
"""The most bytes of history that an ungated execution may add."""

WORKFLOWS: Final = 50
_TYPES: Final = {"by hand": "orders.return", "governed": refund.id, "audited": settle.id}
_BASE: Final = (ARMS[0], ARMS[1])


async def sequential(
    client: Client, worker: WorkerProcess, plain: WorkerProcess, scale: Scale
) -> list[Figure]:
    """One activity after the other.

    Args:
        client: A client of the server.
        worker: The worker with the plugin.
        plain: The worker without it.
        scale: How much to measure.
    """
    blocks: list[list[Lap]] = []
    traces: list[Trace] = []
    for number in range(scale.blocks + 1):
        handle = await client.start_workflow(
            Alternating.run,
            scale.rounds,
            id=f"alternating-{uuid4()}",
            task_queue=worker.task_queue,
        )
        await handle.result()
        await client.execute_workflow(
            ByHand.run, scale.rounds, id=f"by-hand-{uuid4()}", task_queue=plain.task_queue
        )
        laps = await worker.take_laps() + await plain.take_laps()
        if number:  # the first one warms up
            blocks.append(laps)
            traces += traces_of([event async for event in handle.fetch_history_events()])
    times = [_by_arm(laps, lambda lap: lap.wall_ns / 1e6) for laps in blocks]
    cpus = [_by_arm(laps, lambda lap: lap.cpu_ns / 1e6) for laps in blocks]
    return [*_compared("sequential", times, cpus), *_history(traces)]


async def concurrent(
    client: Client, worker: WorkerProcess, plain: WorkerProcess, scale: Scale
) -> list[Figure]:
    """50 workflows at a time, see `sequential`."""
    times: list[dict[str, float]] = []
    cpus: list[dict[str, float]] = []
    for number in range(scale.batches + 1):
        time: dict[str, float] = {}
        cpu: dict[str, float] = {}
        for arm in (*TURNS[number % len(TURNS)], PLAIN):
            where = plain if arm == PLAIN else worker
            before, began = await where.cpu_ns(), perf_counter_ns()
            await _batch(client, where.task_queue, arm, scale.each)
            time[arm] = (perf_counter_ns() - began) / 1e6 / (WORKFLOWS * scale.each)
            cpu[arm] = (await where.cpu_ns() - before) / 1e6 / (WORKFLOWS * scale.each)
        if number:
            times.append({arm: time[arm] for arm in (*ARMS, PLAIN)})
            cpus.append({arm: cpu[arm] for arm in (*ARMS, PLAIN)})
    await worker.take_laps()
    await plain.take_laps()
    return _compared("concurrent", times, cpus)


async def _batch(client: Client, task_queue: str, arm: str, count: int) -> None:
    async def start() -> WorkflowHandle[Any, None]:  # of either workflow
        id_ = f"batch-{uuid4()}"
        if arm == PLAIN:
            return await client.start_workflow(ByHand.run, count, id=id_, task_queue=task_queue)
        return await client.start_workflow(
            Repeating.run, args=[arm, count], id=id_, task_queue=task_queue
        )

    handles = await asyncio.gather(*(start() for _ in range(WORKFLOWS)))
    await asyncio.gather(*(handle.result() for handle in handles))


def _compared(
    benchmark: str, times: list[dict[str, float]], cpus: list[dict[str, float]]
) -> list[Figure]:
    return [
        figure
        for what, blocks in (("time", times), ("worker CPU", cpus))
        for figure in compare(benchmark, what, "ms", blocks, base=_BASE, beside=PLAIN, budget=RATIO)
    ]


def _by_arm(laps: Sequence[Lap], measure: Callable[[Lap], float]) -> dict[str, float]:
    return {
        arm: trimmed_mean([measure(lap) for lap in laps if lap.arm == arm])
        for arm in (*ARMS, PLAIN)
    }


def _history(traces: Sequence[Trace]) -> list[Figure]:
    def each(measure: Callable[[Trace], int]) -> dict[str, float]:
        return {
            arm: mean(measure(trace) for trace in traces if trace.type == type_)
            for arm, type_ in _TYPES.items()
        }

    events = each(lambda trace: trace.activity_events)
    size = each(lambda trace: trace.activity_bytes)
    governed = [arm for arm in _TYPES if arm != "by hand"]
    return [
        Figure("sequential", "history events", "by hand", events["by hand"], "events"),
        *(
            Figure(
                "sequential", "history events", arm, events[arm], "events", budget=events["by hand"]
            )
            for arm in governed
        ),
        *(Figure("sequential", "history bytes", arm, size[arm], "B") for arm in _TYPES),
        *(
            Figure(
                "sequential",
                "history bytes",
                f"{arm} - by hand",
                size[arm] - size["by hand"],
                "B",
                budget=BYTES,
            )
            for arm in governed
        ),
    ]
