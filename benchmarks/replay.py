"""Replays the history of many executions: governed against by hand, and by hand twice for noise."""

from collections.abc import Sequence
from time import process_time
from typing import Final
from uuid import uuid4

from temporalio.client import Client, WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer

from temperance import App, Governance, TemperancePlugin

from . import stopwatch
from .arms import ARMS, PLAIN, Arm
from .by_hand import ByHand
from .figures import Figure, compare
from .orders import refund, settle
from .scale import Scale
from .worker_process import WorkerProcess
from .workflows import Repeating

RATIO: Final = 1.1
"""The most that a replay may cost, against by hand."""


async def replay(
    client: Client, worker: WorkerProcess, plain: WorkerProcess, scale: Scale
) -> list[Figure]:
    """Runs a workflow of each kind, and replays them in turns.

    Args:
        client: A client of the server.
        worker: The worker with the plugin.
        plain: The worker without it.
        scale: How much to measure.
    """
    governed, by_hand = [
        await _repeated(client, worker.task_queue, arm, scale.executions)
        for arm in ("governed", "by hand")
    ]
    alone = await _by_hand(client, plain.task_queue, scale.executions)
    turns = {"by hand": by_hand, "governed": governed, "by hand again": by_hand, PLAIN: alone}
    blocks: list[dict[str, float]] = []
    for number in range(scale.replays + 1):
        block = {arm: await _seconds(arm, history) for arm, history in turns.items()}
        if number:  # the first one warms up
            blocks.append(block)
    return compare(
        "replay",
        f"CPU, {scale.executions} executions",
        "s",
        blocks,
        base=(ARMS[0], ARMS[1]),
        beside=PLAIN,
        budget=RATIO,
    )


async def _repeated(client: Client, task_queue: str, arm: Arm, count: int) -> WorkflowHistory:
    handle = await client.start_workflow(
        Repeating.run, args=[arm, count], id=f"replayed-{uuid4()}", task_queue=task_queue
    )
    await handle.result()
    return await handle.fetch_history()


async def _by_hand(client: Client, task_queue: str, count: int) -> WorkflowHistory:
    handle = await client.start_workflow(
        ByHand.run, count, id=f"replayed-{uuid4()}", task_queue=task_queue
    )
    await handle.result()
    return await handle.fetch_history()


async def _seconds(arm: str, history: WorkflowHistory) -> float:
    if arm == PLAIN:
        replayer = Replayer(workflows=[ByHand], data_converter=pydantic_data_converter)
    else:
        app = App(Governance([refund, settle]), sinks=[])
        plugin = TemperancePlugin(app, passthrough=[stopwatch.__name__])
        replayer = Replayer(workflows=[Repeating], plugins=[plugin])
    began = process_time()
    await replayer.replay_workflow(history)
    taken = process_time() - began
    _forget(stopwatch.take_laps())
    return taken


def _forget(laps: Sequence[object]) -> None:
    """What the stopwatch noted in a replay is no measure of anything."""
    del laps
