"""The control: a workflow and activities written by hand that do about the same.

What the SDK and Python themselves make a worker grow by, this one grows by too.
"""

import asyncio
from datetime import timedelta

from pydantic import BaseModel
from temporalio import activity, workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError

SHORT = timedelta(seconds=1)
ONCE = RetryPolicy(maximum_attempts=1)
THRICE = RetryPolicy(maximum_attempts=3, initial_interval=timedelta(milliseconds=10))


class Order(BaseModel):
    """What is asked for."""

    number: int
    text: str = ""


@activity.defn(name="plain.look")
async def look(order: Order) -> Order:
    """A read that fails at its first attempt, one time in ten."""
    if activity.info().attempt == 1 and order.number % 10 == 3:
        raise ConnectionError
    return order


@activity.defn(name="plain.pay")
async def pay(order: Order) -> Order:
    """A write; one of twenty fails, one of a hundred hangs."""
    if order.number % 100 == 11:
        await asyncio.sleep(60)
    if order.number % 20 == 9:
        raise RuntimeError
    return order


@activity.defn(name="plain.ship")
def ship(order: Order) -> Order:
    """An idempotent write, in a thread."""
    if activity.info().attempt == 1 and order.number % 15 == 2:
        raise TimeoutError
    return order


class PlainPlan(BaseModel):
    """See `benchmarks.soak.journey.Plan`."""

    number: int
    rounds: int = 2


@workflow.defn(name="soak.PlainJourney")
class PlainJourney:
    """The journey by hand."""

    @workflow.run
    async def run(self, plan: PlainPlan) -> int:
        """Gives how many activities the last run asked for."""
        order = Order(number=plan.number * 7 + plan.rounds)
        await workflow.execute_activity(
            look, order, start_to_close_timeout=SHORT, retry_policy=THRICE
        )
        try:
            await workflow.execute_activity(
                pay, order, start_to_close_timeout=SHORT, retry_policy=ONCE
            )
        except ActivityError:
            workflow.logger.debug("not paid")
        await asyncio.gather(
            *(
                workflow.execute_activity(
                    one, order, start_to_close_timeout=SHORT, retry_policy=THRICE
                )
                for one in (look, ship, look, look)
            )
        )
        if plan.rounds:
            workflow.continue_as_new(plan.model_copy(update={"rounds": plan.rounds - 1}))
        return 6
