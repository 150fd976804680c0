"""A capability in the module of the workflow that asks for it: the sandbox makes another of it."""

from datetime import timedelta

from pydantic import BaseModel
from temporalio import workflow

from temperance import Actor, capability
from temperance.workflows import Invoker


class Word(BaseModel):
    """One word."""

    text: str


@capability(
    "inside.echo",
    description="Say it again.",
    expose={"workflow"},
    side_effect="none",
    risk="low",
    placement="local",
    timeout=timedelta(seconds=1),
)
async def echo(input: Word) -> Word:
    """The same word."""
    return input


@workflow.defn
class Inside:
    """Asks for it."""

    @workflow.run
    async def run(self) -> str:
        envelope = await Invoker(actor=Actor(id="ada")).invoke(echo, Word(text="there"))
        return envelope.unwrap().text
