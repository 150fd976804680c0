"""The workflow under load: a few executions of each kind, then the same again as a new run."""

import asyncio

from pydantic import BaseModel
from temporalio import workflow

from temperance import Actor
from temperance.workflows import Invoker

from .shop import Order, close, look, pay, ship


class Plan(BaseModel):
    """What one workflow is to do.

    Args:
        number: Of the workflow; what its handlers do follows from it.
        rounds: How many more times it continues as new.
        asks_a_person: Whether it asks for an approval, and waits for the decision.
    """

    number: int
    rounds: int = 2
    asks_a_person: bool = False


@workflow.defn(name="soak.Journey")
class Journey:
    """Reads and writes one after the other, three at once, and with a person's approval."""

    @workflow.run
    async def run(self, plan: Plan) -> int:
        """Gives how many executions the last run asked for."""
        invoker = Invoker(actor=Actor(id=f"user-{plan.number}"))
        order = Order(number=plan.number * 7 + plan.rounds)
        await invoker.invoke(look, order)
        await invoker.invoke(pay, order)
        await asyncio.gather(
            invoker.invoke(look, Order(number=order.number + 1)),
            invoker.invoke(ship, order),
            invoker.invoke(look, order),  # the same again
        )
        await invoker.invoke("soak.look", b"[]")  # a model's mistake
        asked = 6
        if plan.asks_a_person and not plan.rounds:
            await invoker.invoke(close, order)
            asked += 1
        if plan.rounds:
            workflow.continue_as_new(plan.model_copy(update={"rounds": plan.rounds - 1}))
        return asked
