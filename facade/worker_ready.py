"""When a worker is ready: the server has seen it ask for work."""

import asyncio
import json
import os
from pathlib import Path
from typing import Final, TypedDict

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    DescribeTaskQueueRequest,
    ListTaskQueuePartitionsRequest,
)
from temporalio.client import Client
from temporalio.service import RPCError

_ASK_EVERY_SECONDS: Final = 0.05

ACTIVITIES: Final = TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY
WORKFLOWS: Final = TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW


class WorkerReady(TypedDict):
    """What is said of a worker that takes work, in the log and in the ready file."""

    pid: int
    identity: str
    namespace: str
    task_queue: str
    capabilities: int
    workflows: list[str]


async def pollers_of(
    client: Client, task_queue: str, kind: TaskQueueType.ValueType = ACTIVITIES
) -> set[str]:
    """The identities of the workers that the server has seen ask for work in the last minutes.

    Args:
        client: Any client of the namespace.
        task_queue: The task queue.
        kind: `ACTIVITIES` or `WORKFLOWS`.

    Returns:
        One identity for each worker.

    Raises:
        temporalio.service.RPCError: The server cannot be asked, or does not let this client.
    """
    service = client.workflow_service
    listed = await service.list_task_queue_partitions(
        ListTaskQueuePartitionsRequest(
            namespace=client.namespace, task_queue=TaskQueue(name=task_queue)
        )
    )
    # The name of the queue stands for its first partition alone, and with several workers a new
    # one is often seen by another first.
    partitions = (
        listed.workflow_task_queue_partitions
        if kind == WORKFLOWS
        else listed.activity_task_queue_partitions
    )
    described = await asyncio.gather(
        *(
            service.describe_task_queue(
                DescribeTaskQueueRequest(
                    namespace=client.namespace,
                    task_queue=TaskQueue(name=partition.key),
                    task_queue_type=kind,
                )
            )
            for partition in partitions
        )
    )
    return {poller.identity for answer in described for poller in answer.pollers}


async def until_seen(client: Client, task_queue: str, identity: str, *, workflows: bool) -> None:
    """Returns when the server has seen a worker ask for all the kinds of work that it does.

    A client that may not ask the server this (it is an operation of its own, with a permission of
    its own) takes the worker's word for it.

    Args:
        client: The worker's client.
        task_queue: Its task queue.
        identity: Its identity.
        workflows: Whether it takes workflows too.
    """
    kinds = (ACTIVITIES, WORKFLOWS) if workflows else (ACTIVITIES,)
    try:
        for kind in kinds:
            # The server tells nobody that a poller has come.
            while identity not in await pollers_of(client, task_queue, kind):  # noqa: ASYNC110
                await asyncio.sleep(_ASK_EVERY_SECONDS)
    except RPCError:
        return


def write_ready_file(path: Path, ready: WorkerReady) -> None:
    """Writes the file in one step: whoever sees it sees all of it.

    Raises:
        OSError: It cannot be written.
    """
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    unfinished.write_text(json.dumps(ready) + "\n")
    unfinished.replace(path)


def remove_ready_file(path: Path) -> None:
    """Removes the file, if it is there."""
    path.unlink(missing_ok=True)
