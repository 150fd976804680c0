"""The arms, and how an agent of one of them is run."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final
from uuid import uuid4

from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle

from benchmarks.worker_process import WorkerProcess

WORKFLOWS: Final[dict[str, str]] = {
    "by hand": "ByHand",
    "by hand again": "ByHand",
    "temperance": "Governed",
    "pydantic-ai": "WithPydanticAI",
    "openai-agents": "WithOpenAIAgents",
}
"""Workflow type of each arm; the first two are equal, and say how quiet the machine was."""

BASE: Final = ("by hand", "by hand again")
ARMS: Final = tuple(arm for arm in WORKFLOWS if arm != BASE[1])
"""Each way of doing it once."""


@dataclass(frozen=True)
class Ended:
    """An agent run that is over.

    Args:
        events: Its history.
        failed: Whether the workflow failed.
    """

    events: list[HistoryEvent]
    failed: bool

    @property
    def activities(self) -> int:
        """How many activities it asked for: model turns and tool calls."""
        return sum(
            event.HasField("activity_task_scheduled_event_attributes") for event in self.events
        )


def worker_of(host: str, arm: str, folder: Path) -> WorkerProcess:
    """A worker process of one arm; its task queue has the arm's name.

    Args:
        host: The server.
        arm: Which arm.
        folder: Where orders that make trouble are counted.
    """
    return WorkerProcess(host, arm, folder, module="benchmarks.peers.worker")


async def begin(client: Client, arm: str, prompt: str) -> WorkflowHandle[object, object]:
    """Starts an agent run.

    Args:
        client: Any client of the server.
        arm: Which arm.
        prompt: See `benchmarks.peers.tool.asks_for`.
    """
    return await client.start_workflow(
        WORKFLOWS[arm],
        prompt,
        id=f"peer-{uuid4()}",
        task_queue=arm,
        execution_timeout=timedelta(minutes=2),
    )


async def end(handle: WorkflowHandle[object, object]) -> Ended:
    """Waits for the end of a run, and reads its history."""
    try:
        await handle.result()
    except WorkflowFailureError:
        failed = True
    else:
        failed = False
    return Ended([event async for event in handle.fetch_history_events()], failed)
