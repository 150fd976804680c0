"""Local reads, governed against by hand, and both against normal activities (decision 0018).

A block is two workflows on one worker: one whose arms are all local activities, in turns, and one
whose arms are all normal ones. They cannot share a workflow: a local activity keeps the workflow
task open in which a normal one would be scheduled.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any, Final
from uuid import uuid4

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client, WorkflowHandle

from .figures import Figure, compare, summary, trimmed_mean
from .history import traces_of
from .reads import LOCAL, NORMAL, Arm, Reads, far, near
from .scale import Scale
from .stopwatch import Lap
from .worker_process import WorkerProcess

BENCHMARK: Final = "local"
_MEASURES: Final = (("time", "wall_ns"), ("worker CPU", "cpu_ns"))


async def local(
    client: Client, worker: WorkerProcess, plain: WorkerProcess, scale: Scale
) -> list[Figure]:
    """Reads one after the other; see the module.

    Args:
        client: A client of the server.
        worker: Not used: the worker is this benchmark's own.
        plain: Not used.
        scale: How much to measure.
    """
    del worker, plain
    host = client.service_client.config.target_host
    blocks: list[list[Lap]] = []
    histories: list[list[HistoryEvent]] = []
    with TemporaryDirectory(prefix="benchmarks-") as folder:
        async with WorkerProcess(host, "local", Path(folder)) as own:
            for number in range(scale.blocks + 1):
                handles = [
                    await _run(client, own.task_queue, arms, scale.rounds)
                    for arms in (LOCAL, NORMAL)
                ]
                laps = await own.take_laps()
                if number:  # the first one warms up
                    blocks.append(laps)
                    histories += [
                        [event async for event in handle.fetch_history_events()]
                        for handle in handles
                    ]
    figures: list[Figure] = []
    for what, clock in _MEASURES:
        measured = [_by_arm(laps, clock) for laps in blocks]
        of_local = [{str(arm): block[arm] for arm in LOCAL} for block in measured]
        figures += compare(BENCHMARK, what, "ms", of_local, base=(LOCAL[0], LOCAL[1]))
        figures += [
            summary(BENCHMARK, what, arm, "ms", [block[arm] for block in measured])
            for arm in NORMAL
        ]
        ratios = [block["local governed"] / block["governed"] for block in measured]
        figures.append(summary(BENCHMARK, what, "local governed / governed", "x", ratios))
    return figures + _history(histories)


async def _run(
    client: Client, task_queue: str, arms: Sequence[Arm], rounds: int
) -> WorkflowHandle[Any, None]:  # of one workflow
    handle = await client.start_workflow(
        Reads.run, args=[list(arms), rounds], id=f"reads-{uuid4()}", task_queue=task_queue
    )
    await handle.result()
    return handle


def _by_arm(laps: Sequence[Lap], clock: str) -> dict[str, float]:
    return {
        arm: trimmed_mean([getattr(lap, clock) / 1e6 for lap in laps if lap.arm == arm])
        for arm in (*LOCAL, *NORMAL)
    }


def _history(histories: Sequence[Sequence[HistoryEvent]]) -> list[Figure]:
    events = [event for history in histories for event in history]
    markers = list(markers_of(events))
    local = {
        arm: mean(size for kind, size in markers if kind == type_)
        for arm, type_ in (("local by hand", "orders.hand"), ("local governed", near.id))
    }
    traces = [trace for history in histories for trace in traces_of(history)]
    normal = {
        arm: mean(trace.activity_bytes for trace in traces if trace.type == type_)
        for arm, type_ in (("by hand", "orders.hand"), ("governed", far.id))
    }
    patch = [event.ByteSize() for event in events if _is_patch(event)]
    runs = sum(any(_is_patch(event) for event in history) for history in histories)
    return [
        Figure(BENCHMARK, "history bytes", arm, size, "B")
        for arm, size in {**local, **normal}.items()
    ] + [
        Figure(BENCHMARK, "history events", "local, each", 1, "events"),
        Figure(BENCHMARK, "history events", "once in a run", len(patch) / runs, "events"),
        Figure(BENCHMARK, "history bytes", "once in a run", sum(patch) / runs, "B"),
    ]


def markers_of(events: Iterable[HistoryEvent]) -> Iterable[tuple[str, int]]:
    """The activity type and the size of each local activity that a history has."""
    for event in events:
        marker = event.marker_recorded_event_attributes
        if marker.marker_name == "core_local_activity":
            data: dict[str, str] = json.loads(marker.details["data"].payloads[0].data)
            yield data["activity_type"], event.ByteSize()


def _is_patch(event: HistoryEvent) -> bool:
    marker = event.marker_recorded_event_attributes.marker_name
    upsert = EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES
    return marker == "core_patch" or event.event_type == upsert
