"""`SupportTicket`: one workflow for each ticket.

The workflow holds the conversation between the agent and the runtime. Every call of the agent goes
through the `Invoker`, and so through the rules of `capabilities`: the workflow itself can neither
refund nor send anything.
"""

from temporalio import workflow

from temperance import Actor, ExecutionResult
from temperance.workflows import Invoker

# Pure code: it needs no checks by the sandbox, and is not imported anew for each workflow.
with workflow.unsafe.imports_passed_through():
    from .agent import Call
    from .conversation import answer
    from .records import TicketRecord
    from .tickets import Ticket

DESK = Actor(id="support-desk", kind="automation")
"""On whose behalf the agent asks. It is never the model that asks."""


@workflow.defn(name="SupportTicket")
class SupportTicket:
    """Answers one ticket."""

    @workflow.run
    async def run(self, ticket: Ticket) -> TicketRecord:
        invoker = Invoker(actor=DESK, surface="agent", correlation_id=ticket.id)

        async def ask(call: Call) -> ExecutionResult[object]:
            return await invoker.invoke(call.capability, call.arguments)

        return await answer(ticket, ask)
