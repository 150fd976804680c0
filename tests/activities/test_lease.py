"""A late attempt asks the server whether it still counts (G1, G7)."""

from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

from temporalio import activity
from temporalio.client import Client
from temporalio.common import RetryPolicy
from temporalio.worker import Worker

from temperance.activities.lease import Lease
from temperance.runtime.messages import Carry

CARRY = Carry(("EXECUTION_FAILED",), "possible")
HOUR = timedelta(hours=1)


@activity.defn
async def late_by_its_clock() -> list[Any]:
    """Its worker's clock is an hour ahead; the second attempt gives what the first one told."""
    info = activity.info()
    if info.attempt > 1:
        return list(info.heartbeat_details)
    started = replace(info, started_time=info.started_time - HOUR)
    if await Lease(started, activity.client()).arrived_late(CARRY):
        return ["closed"]
    raise RuntimeError("again")


@activity.defn
async def in_time() -> list[bool]:
    """It has nobody to ask."""
    lease = Lease(activity.info(), cast(Client, None))
    lease.beat()
    return [await lease.arrived_late(CARRY), await lease.lost(CARRY)]


async def run(client: Client, queue: str, function: Any) -> object:  # an activity of any type
    """Run an activity, with a second attempt if it fails."""
    async with Worker(client, task_queue=queue, activities=[function]):
        return await client.execute_activity(
            function,
            id=queue,
            task_queue=queue,
            start_to_close_timeout=timedelta(minutes=1),
            retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=1)),
        )


async def test_g7_an_attempt_whose_clock_is_ahead_asks_and_goes_on(
    client: Client, task_queue: str
) -> None:
    """The server still waits for it; and what earlier attempts told is not lost by asking."""
    assert await run(client, task_queue, late_by_its_clock) == [CARRY.details()]


async def test_g7_an_attempt_that_is_in_time_asks_nobody(client: Client, task_queue: str) -> None:
    """Two looks at a clock are all that it pays."""
    assert await run(client, task_queue, in_time) == [False, False]
