"""A workflow that asks for one thing after the other."""

from pydantic import BaseModel
from temporalio import workflow

from temperance import Actor, ExecutionResult
from temperance.workflows import Invoker


class Asked(BaseModel):
    """A request as a model makes it."""

    capability: str
    text: str


@workflow.defn
class Asking:
    """Asks, and gives what it was answered at once; outputs stay JSON-like."""

    @workflow.run
    async def run(self, requests: list[Asked]) -> list[ExecutionResult[object]]:
        invoker = Invoker(
            actor=Actor(id="ada", attributes={"token": "4711-secret"}), surface="agent"
        )
        return [
            await invoker.invoke(asked.capability, asked.text, wait=False) for asked in requests
        ]
