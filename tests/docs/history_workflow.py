"""The workflow of the history that docs/explanation tells."""

from temporalio import workflow

from temperance import Actor
from temperance.workflows import Invoker
from tests.docs.history_capabilities import Mail, Order, lookup, refund, send


@workflow.defn
class Ticket:
    """One support ticket."""

    def __init__(self) -> None:
        self._refunded = False
        self._go_on = False

    @workflow.run
    async def run(self, order: str) -> list[str]:
        """Looks up, refunds, mails, and asks for the refund again, as a model would."""
        desk = Invoker(actor=Actor(id="ada"), surface="agent")
        found = await desk.invoke(lookup, Order(order=order))
        amount = found.unwrap()
        paid = await desk.invoke(refund, amount)
        self._refunded = True
        await workflow.wait_condition(lambda: self._go_on)
        mailed = await desk.invoke(send, Mail(to="ada@example.org"))
        again = await desk.invoke(refund, amount)
        return [entry.status for entry in (found, paid, mailed, again)]

    @workflow.query
    def refunded(self) -> bool:
        """Whether the refund is done; a query leaves nothing in the history."""
        return self._refunded

    @workflow.signal
    def go_on(self) -> None:
        """Lets the ticket go on."""
        self._go_on = True
