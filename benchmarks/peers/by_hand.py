"""A loop written by hand around a model and a tool, both plain activities."""

import json
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.common import RetryPolicy

from .tool import TIMEOUT, Order, asks_for, settle

Message = dict[str, str]

A_MINUTE = timedelta(minutes=1)


@activity.defn(name="model")
async def ask_model(messages: list[Message]) -> Message:
    """One turn of the model: the scripted answer to a conversation."""
    answered = sum(message["role"] == "tool" for message in messages)
    order_id = asks_for(messages[0]["text"], answered)
    if order_id is None:
        return {"role": "assistant", "text": "done"}
    return {"role": "assistant", "tool": "settle", "arguments": json.dumps({"order_id": order_id})}


@activity.defn(name="settle")
async def settle_by_hand(order_id: str) -> Order:
    """The tool as an activity."""
    return await settle(order_id)


@workflow.defn
class ByHand:
    """What a careful author writes: one attempt at a tool that writes, and a failure is told."""

    @workflow.run
    async def run(self, prompt: str) -> str:
        messages: list[Message] = [{"role": "user", "text": prompt}]
        while True:
            turn = await workflow.execute_activity(
                ask_model, messages, start_to_close_timeout=A_MINUTE
            )
            messages.append(turn)
            if "tool" not in turn:
                return turn["text"]
            try:
                order: Order = await workflow.execute_activity(
                    settle_by_hand,
                    str(json.loads(turn["arguments"])["order_id"]),
                    start_to_close_timeout=TIMEOUT,
                    retry_policy=RetryPolicy(maximum_attempts=1),
                )
            except Exception as error:  # noqa: BLE001 - the model is told, as an agent's loop does
                messages.append({"role": "tool", "text": str(error)})
            else:
                messages.append({"role": "tool", "text": order.model_dump_json()})
