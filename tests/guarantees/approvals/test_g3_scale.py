"""Thousands of approvals wait: they are listed page by page, and no worker holds them (G3)."""

import asyncio
import os
import re
import signal
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest

from temperance import Completed, MemorySink
from temperance.embedded import EmbeddedServer
from tests.conftest import StartWorker
from tests.guarantees.approvals.capabilities import app_of
from tests.guarantees.approvals.office import BOB, Office
from tests.guarantees.runs.books import Books
from tests.support.processes import WorkerProcess
from tests.support.waiting import wait_until

WARM = 200
ALL = 2000
CACHED = 20

GROWTH = 40 * 1024 * 1024
"""What a worker's memory may grow by; eighteen hundred parked workflows would take much more."""


async def opened(office: Office, count: int) -> list[str]:
    """Starts so many approvals, a few dozen at a time."""
    free = asyncio.Semaphore(50)

    async def one(number: int) -> str:
        async with free:
            return await office.begin("transfer" if number % 10 else "charge", f"w{number}")

    return await asyncio.gather(*(one(number) for number in range(count)))


async def parked(office: Office, approvals: Sequence[str]) -> None:
    """Waits until a worker has seen them all: none of their tasks is left in the queue."""

    async def idle() -> bool:
        described = await office.client.workflow_service.describe_task_queue(
            DescribeTaskQueueRequest(
                namespace=office.client.namespace,
                task_queue=TaskQueue(name=office.queue),
                task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
                report_stats=True,
            )
        )
        return described.stats.approximate_backlog_count == 0

    await wait_until(idle, timedelta(seconds=60), every=timedelta(milliseconds=100))
    await asyncio.gather(
        *(office.waiting(approval) for approval in approvals[:: len(approvals) // 50])
    )


async def held(worker: WorkerProcess) -> int:
    """How many approvals a worker has in memory."""
    before = worker.output().count("holds ")
    os.kill(worker.pid, signal.SIGUSR1)

    async def told() -> list[str]:
        found = re.findall(r"^holds (\d+)$", worker.output(), re.MULTILINE)
        return found if len(found) > before else []

    return int((await wait_until(told))[-1])


def memory(worker: WorkerProcess) -> int:
    """Bytes of memory that a process has."""
    status = Path(f"/proc/{worker.pid}/status").read_text()
    (kilobytes,) = re.findall(r"^VmRSS:\s+(\d+) kB$", status, re.MULTILINE)
    return int(kilobytes) * 1024


@pytest.mark.slow
@pytest.mark.timeout(300)  # a busy machine takes its time with two thousand workflows
async def test_g3_two_thousand_approvals_wait_and_no_worker_holds_them(
    worker_process: StartWorker, books: Books, task_queue: str
) -> None:
    """On a server of their own; one is decided in the end, and executes."""
    async with EmbeddedServer(headless=True) as server:
        office = await Office.opened(server, app_of(books), task_queue, books, MemorySink())
        worker = await worker_process(
            "tests.guarantees.approvals.worker",
            *(server.target_host, task_queue, str(books.folder), "never", str(CACHED)),
        )
        ids = await opened(office, WARM)
        await parked(office, ids)
        before = memory(worker)
        ids += await opened(office, ALL - WARM)
        await parked(office, ids)
        after, holds = memory(worker), await held(worker)

        async def listed() -> bool:
            found = [entry.id async for entry in office.approvals.list("pending")]
            return len(found) == ALL and {*found} == {*ids}

        await wait_until(listed)
        charges = [
            e async for e in office.approvals.list(capability="pay.charge", actor="user:ada")
        ]
        first = [entry async for entry in office.approvals.list(limit=7)]
        old = [entry async for entry in office.approvals.list(older_than=timedelta(hours=1))]
        await office.approvals.approve(ids[0], approver=BOB)
        outcome = await office.approvals.outcome(ids[0])

    assert isinstance(outcome, Completed)
    assert (len(charges), len(first), old) == (ALL // 10, 7, [])
    assert [entry.requested_at for entry in first] == sorted(
        (entry.requested_at for entry in first), reverse=True
    )
    assert holds <= CACHED
    assert after - before < GROWTH, f"{before:,} bytes before, {after:,} after"
