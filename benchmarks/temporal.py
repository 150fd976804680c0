"""Governed executions against hand-written activities, on the embedded server.

Sequential: the arms take turns, activity by activity, inside one workflow; a block is one such workflow.
Concurrent: 50 workflows of one arm at a time; a block is one such batch of each arm, in turns. Worker
processor time is that of its whole process.
"""

import asyncio
from collections.abc import Callable, Sequence
from statistics import mean
from time import perf_counter_ns
from typing import Final
from uuid import uuid4

from temporalio.client import Client

from .arms import ARMS, TURNS, Arm
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
    client: Client, worker: WorkerProcess, task_queue: str, scale: Scale
) -> list[Figure]:
    """One activity after the other.

    Args:
        client: A client of the server.
        worker: The worker.
        task_queue: Where it listens.
        scale: How much to measure.
    """
    blocks: list[list[Lap]] = []
    traces: list[Trace] = []
    for number in range(scale.blocks + 1):
        handle = await client.start_workflow(
            Alternating.run, scale.rounds, id=f"alternating-{uuid4()}", task_queue=task_queue
        )
        await handle.result()
        laps = await worker.take_laps()
        if number:  # the first one warms up
            blocks.append(laps)
            traces += traces_of([event async for event in handle.fetch_history_events()])
    return [
        *compare(
            "sequential",
            "time",
            "ms",
            [_by_arm(laps, lambda lap: lap.wall_ns / 1e6) for laps in blocks],
            base=_BASE,
            budget=RATIO,
        ),
        *compare(
            "sequential",
            "worker CPU",
            "ms",
            [_by_arm(laps, lambda lap: lap.cpu_ns / 1e6) for laps in blocks],
            base=_BASE,
            budget=RATIO,
        ),
        *_history(traces),
    ]


async def concurrent(
    client: Client, worker: WorkerProcess, task_queue: str, scale: Scale
) -> list[Figure]:
    """50 workflows at a time, see `sequential`."""
    times: list[dict[str, float]] = []
    cpus: list[dict[str, float]] = []
    for number in range(scale.batches + 1):
        time: dict[str, float] = {}
        cpu: dict[str, float] = {}
        for arm in TURNS[number % len(TURNS)]:
            before, began = await worker.cpu_ns(), perf_counter_ns()
            await _batch(client, task_queue, arm, scale.each)
            time[arm] = (perf_counter_ns() - began) / 1e6 / (WORKFLOWS * scale.each)
            cpu[arm] = (await worker.cpu_ns() - before) / 1e6 / (WORKFLOWS * scale.each)
        if number:
            times.append({arm: time[arm] for arm in ARMS})
            cpus.append({arm: cpu[arm] for arm in ARMS})
    return [
        *compare("concurrent", "time", "ms", times, base=_BASE, budget=RATIO),
        *compare("concurrent", "worker CPU", "ms", cpus, base=_BASE, budget=RATIO),
    ]


async def _batch(client: Client, task_queue: str, arm: Arm, count: int) -> None:
    async with asyncio.TaskGroup() as group:
        for _ in range(WORKFLOWS):
            group.create_task(
                client.execute_workflow(
                    Repeating.run,
                    args=[arm, count],
                    id=f"repeating-{uuid4()}",
                    task_queue=task_queue,
                )
            )


def _by_arm(laps: Sequence[Lap], measure: Callable[[Lap], float]) -> dict[str, float]:
    return {
        arm: trimmed_mean([measure(lap) for lap in laps if lap.arm == arm]) for arm in ARMS
    }


def _history(traces: Sequence[Trace]) -> list[Figure]:
    figures: list[Figure] = []
    own = {
        arm: mean(trace.activity_events for trace in traces if trace.type == type_)
        for arm, type_ in _TYPES.items()
    }
    size = {
        arm: mean(trace.activity_bytes for trace in traces if trace.type == type_)
        for arm, type_ in _TYPES.items()
    }
    for arm in _TYPES:
        budget = None if arm == "by hand" else own["by hand"]
        figures.append(
            Figure("sequential", "history events", arm, own[arm], "events", budget=budget)
        )
    for arm in _TYPES:
        figures.append(Figure("sequential", "history bytes", arm, size[arm], "B"))
    for arm in ("governed", "audited"):
        more = size[arm] - size["by hand"]
        figures.append(
            Figure("sequential", "history bytes", f"{arm} - by hand", more, "B", budget=BYTES)
        )
    return figures
