"""The same agent with pydantic-ai and its Temporal durability."""

from pydantic_ai import Agent, RunContext
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
from temporalio.common import RetryPolicy
from temporalio.workflow import ActivityConfig

from .tool import ONCE, TIMEOUT, Order, asks_for, settle


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


async def settle_order(ctx: RunContext[None], order_id: str) -> Order:
    """Settle an order."""
    return await settle(order_id, ctx.tool_call_id or "")


def agent_of(name: str) -> Agent[None, str]:
    """An agent with the tool's timeout, and everything else as it is by default."""
    durability = TemporalDurability(activity_config=ActivityConfig(start_to_close_timeout=TIMEOUT))
    return Agent(FunctionModel(script), name=name, output_type=str, capabilities=[durability])


agent = agent_of("orders")
agent.tool(settle_order)

careful = agent_of("careful_orders")
careful.tool(
    metadata={"temporal": ActivityConfig(retry_policy=RetryPolicy(maximum_attempts=1))},
)(settle_order)


@workflow.defn
class WithPydanticAI(PydanticAIWorkflow):
    """Runs the agent, or the one whose tool has one attempt."""

    __pydantic_ai_agents__ = (agent, careful)

    @workflow.run
    async def run(self, prompt: str) -> str:
        result = await (careful if prompt.startswith(ONCE) else agent).run(prompt)
        return result.output
