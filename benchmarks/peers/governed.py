"""The loop written by hand, with the tool as a governed capability."""

import json

from pydantic import BaseModel
from temporalio import workflow

from temperance import Actor, App, Completed, Context, Governance, capability
from temperance.workflows import Invoker

from .by_hand import A_MINUTE, Message, ask_model
from .tool import TIMEOUT, Order, settle


class SettleInput(BaseModel):
    """The arguments of the governed tool."""

    order_id: str


@capability(
    "orders.settle",
    description="Settle an order.",
    expose={"agent"},
    side_effect="write",
    risk="high",
    timeout=TIMEOUT,
)
async def settle_governed(input: SettleInput, ctx: Context[None]) -> Order:
    """The tool as a capability."""
    return await settle(input.order_id, ctx.idempotency_key)


@workflow.defn
class Governed:
    """The same loop; the tool goes through the Invoker."""

    @workflow.run
    async def run(self, prompt: str) -> str:
        invoker = Invoker(actor=Actor(id="ada"), surface="agent")
        messages: list[Message] = [{"role": "user", "text": prompt}]
        while True:
            turn = await workflow.execute_activity(
                ask_model, messages, start_to_close_timeout=A_MINUTE
            )
            messages.append(turn)
            if "tool" not in turn:
                return turn["text"]
            envelope = await invoker.invoke("orders.settle", turn["arguments"])
            told: object = (
                envelope.output if isinstance(envelope, Completed) else envelope.to_dict()
            )
            messages.append({"role": "tool", "text": json.dumps(told, separators=(",", ":"))})


def app() -> App:
    """The governed tool, with the sink that a worker has by default left out: nobody reads it."""
    return App(Governance([settle_governed]), sinks=[])
