"""A workflow that the command line is asked to serve beside the application's own."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from shop import Order, look_up  # type: ignore[import-not-found] # top level where it is run

from temperance import Actor
from temperance.workflows import Invoker


@workflow.defn
class Ticket:
    """Looks an order up, and logs in three ways."""

    @workflow.run
    async def run(self, order: str) -> str:
        """Gives the order back."""
        workflow.logger.info("a ticket begins")
        desk = Invoker(actor=Actor(id="ada"), surface="agent")
        found = (await desk.invoke(look_up, Order(order=order))).unwrap()
        workflow.logger.info("a ticket ends")
        return str(found.order)
