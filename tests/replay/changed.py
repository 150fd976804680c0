"""A story as it was never recorded: to see that a replay finds out."""

from temporalio import workflow

from temperance import Actor
from temperance.workflows import Invoker
from tests.replay.shop import Order, refund
from tests.replay.stories import told


@workflow.defn(name="story.Again")
class Again:
    """Asks for the same capability with another input."""

    @workflow.run
    async def run(self, then: str) -> list[str]:
        invoker = Invoker(actor=Actor(id="ada"))
        return [told(await invoker.invoke(refund, Order(id=f"o-1 to {then}")))]
