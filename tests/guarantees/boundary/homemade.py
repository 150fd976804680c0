"""A workflow and a model in one module: inside the sandbox the model is another class."""

from pydantic import BaseModel
from temporalio import workflow

from temperance.runtime.actor import Actor
from temperance.workflows import Invoker
from tests.guarantees.boundary.answers import Answer, answer_of


class Basket(BaseModel):
    words: frozenset[str]
    more: dict[str, set[str]] = {}


@workflow.defn
class Homemade:
    """Asks twice for the same, with sets that were filled in another order."""

    @workflow.run
    async def run(self, words: list[str]) -> list[Answer]:
        invoker = Invoker(actor=Actor(id="ada"), surface="agent")
        given = [
            Basket(words=frozenset(order), more={"a": set(order)}) for order in (words, words[::-1])
        ]
        return [answer_of(await invoker.invoke("homemade.count", basket)) for basket in given]
