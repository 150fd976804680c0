"""The same agent with pydantic-ai and its Temporal durability."""

from pydantic_ai import Agent
from pydantic_ai.durable_exec.temporal import PydanticAIWorkflow, TemporalDurability
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from temporalio import workflow

from .tool import Order, asks_for, settle


def script(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """The scripted model."""
    del info
    parts = [part for message in messages for part in message.parts]
    prompt = next(str(part.content) for part in parts if isinstance(part, UserPromptPart))
    answered = sum(isinstance(part, ToolReturnPart) for part in parts)
    order_id = asks_for(prompt, answered)
    if order_id is None:
        return ModelResponse(parts=[TextPart("done")])
    return ModelResponse(parts=[ToolCallPart("settle_order", {"order_id": order_id})])


agent = Agent(
    FunctionModel(script), name="orders", output_type=str, capabilities=[TemporalDurability()]
)


@agent.tool_plain
async def settle_order(order_id: str) -> Order:
    """Settle an order."""
    return await settle(order_id)


@workflow.defn
class WithPydanticAI(PydanticAIWorkflow):
    """Runs the agent."""

    __pydantic_ai_agents__ = (agent,)

    @workflow.run
    async def run(self, prompt: str) -> str:
        result = await agent.run(prompt)
        return result.output
