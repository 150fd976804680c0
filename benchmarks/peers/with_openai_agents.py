"""The same agent with the OpenAI Agents SDK and its Temporal plugin."""

import json
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, ModelResponse, Runner
from agents.items import TResponseStreamEvent
from agents.models.interface import Model
from temporalio import activity, workflow
from temporalio.common import RetryPolicy
from temporalio.openai_agents.testing import ResponseBuilders
from temporalio.openai_agents.workflow import activity_as_tool

from .tool import ONCE, TIMEOUT, Order, asks_for, settle


@activity.defn
async def settle_order(order_id: str) -> Order:
    """Settle an order."""
    return await settle(order_id)


class Script(Model):
    """The scripted model."""

    async def get_response(
        self,
        system_instructions: str | None,
        input: Any,  # the SDK's own unions of items
        *rest: Any,
        **more: Any,
    ) -> ModelResponse:
        """The next answer to a conversation."""
        del system_instructions, rest, more
        items = [item for item in input if isinstance(item, dict)]
        prompt = next(str(item["content"]) for item in items if item.get("role") == "user")
        answered = sum(item.get("type") == "function_call_output" for item in items)
        order_id = asks_for(prompt, answered)
        if order_id is None:
            return ResponseBuilders.output_message("done")
        return ResponseBuilders.tool_call(
            json.dumps({"order_id": order_id}), "settle_order", call_id=f"call-{answered}"
        )

    def stream_response(self, *rest: Any, **more: Any) -> AsyncIterator[TResponseStreamEvent]:
        """Not used here."""
        raise NotImplementedError


@workflow.defn
class WithOpenAIAgents:
    """Runs the agent; with a retry policy of its own only where it is asked for one attempt."""

    @workflow.run
    async def run(self, prompt: str) -> str:
        tool = activity_as_tool(
            settle_order,
            start_to_close_timeout=TIMEOUT,
            retry_policy=RetryPolicy(maximum_attempts=1) if prompt.startswith(ONCE) else None,
        )
        agent = Agent[None](name="orders", tools=[tool])
        result = await Runner.run(agent, [{"role": "user", "content": prompt}], max_turns=100)
        return str(result.final_output)
