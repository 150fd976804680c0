"""A workflow that asks for a refund and waits for a person."""

from temporalio import workflow

from temperance import Actor
from temperance.workflows import Invoker


@workflow.defn
class Errand:
    """Asks once."""

    @workflow.run
    async def run(self, order: str) -> str:
        """How the refund ended."""
        invoker = Invoker(actor=Actor(id="ada"), surface="agent")
        return (await invoker.invoke("shop.refund", {"order": order})).status
