"""Replays the history of many executions: governed against by hand, and by hand twice for the noise."""

from time import process_time
from typing import Final
from uuid import uuid4

from temporalio.client import Client, WorkflowHistory
from temporalio.worker import Replayer

from temperance import App, Governance, TemperancePlugin

from . import stopwatch
from .arms import ARMS, Arm
from .figures import Figure, compare
from .orders import refund, settle
from .scale import Scale
from .workflows import Repeating

RATIO: Final = 1.1
"""The most that a replay may cost, against by hand."""


async def replay(client: Client, task_queue: str, scale: Scale) -> list[Figure]:
    """Runs a workflow of each kind, and replays both in turns.

    Args:
        client: A client of the server.
        task_queue: Where a worker listens.
        scale: How much to measure.
    """
    by_hand = await _history(client, task_queue, "by hand", scale.executions)
    governed = await _history(client, task_queue, "governed", scale.executions)
    turns = {"by hand": by_hand, "governed": governed, "by hand again": by_hand}
    blocks: list[dict[str, float]] = []
    for number in range(scale.replays + 1):
        block = {arm: await _seconds(history) for arm, history in turns.items()}
        if number:  # the first one warms up
            blocks.append(block)
    return compare(
        "replay",
        f"CPU, {scale.executions} executions",
        "s",
        blocks,
        base=(ARMS[0], ARMS[1]),
        budget=RATIO,
    )


async def _history(client: Client, task_queue: str, arm: Arm, count: int) -> WorkflowHistory:
    handle = await client.start_workflow(
        Repeating.run, args=[arm, count], id=f"replayed-{uuid4()}", task_queue=task_queue
    )
    await handle.result()
    return await handle.fetch_history()


async def _seconds(history: WorkflowHistory) -> float:
    app = App(Governance([refund, settle]), sinks=[])
    plugin = TemperancePlugin(app, passthrough=[stopwatch.__name__])
    replayer = Replayer(workflows=[Repeating], plugins=[plugin])
    began = process_time()
    await replayer.replay_workflow(history)
    return process_time() - began
