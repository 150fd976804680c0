"""A workflow inside a package of capabilities."""

import time

from temporalio import workflow

from temperance.runtime.actor import Actor
from temperance.workflows import Invoker


@workflow.defn
class Wrapping:
    """Wraps a word, and then asks the clock."""

    @workflow.run
    async def run(self, ask_clock: bool) -> str:
        envelope = await Invoker(actor=Actor(id="ada")).invoke("package.wrap", '"a"')
        if ask_clock:
            return str(time.time())
        return str(envelope.unwrap())
