"""A workflow that asks for more at once than the server takes."""

import asyncio

from temporalio import workflow

from temperance import Actor
from temperance.workflows import Invoker
from tests.guarantees.crowd import Number, echo


@workflow.defn
class Crowd:
    """Asks for everything at once."""

    @workflow.run
    async def run(self, size: int) -> int:
        """How many of the answers are right."""
        invoker = Invoker(actor=Actor(id="ada"))
        asked = [invoker.invoke(echo, Number(n=n)) for n in range(size)]
        answers = await asyncio.gather(*asked)
        return sum(answer.unwrap().n == n for n, answer in enumerate(answers))
