"""A workflow whose inputs hold sets of strings, which each process walks in an order of its own."""

from dataclasses import dataclass

from pydantic import BaseModel
from temporalio import workflow

from temperance import Actor
from temperance.workflows import Invoker
from tests.guarantees.runs.jobs import Job

WORDS = [f"word-{number}" for number in range(20)]


class Stranger(BaseModel):
    """A model that no capability takes."""

    tags: set[str]
    more: list[frozenset[str]]


@dataclass
class StrangeData:
    """The same as a dataclass."""

    tags: set[str]


@workflow.defn
class Tagged:
    """Asks with sets in every way there is, and then holds."""

    def __init__(self) -> None:
        self._codes: list[str] = []
        self._finished = False

    @workflow.run
    async def run(self) -> list[str]:
        tags = set(WORDS)
        invoker = Invoker(actor=Actor(id="ada"))
        inputs: list[object] = [
            Job(label="model", tags=tags),
            {"label": "mapping", "tags": tags},
            {"label": "nested", "tags": [tags, {"deep": frozenset(tags)}]},
            {"label": "no number", "tags": tags, "note": float("nan")},
            {"label": "keyed", "note": dict.fromkeys(tags, 1.5)},
            Stranger(tags=tags, more=[frozenset(tags)]),
            StrangeData(tags),
            [Stranger(tags=tags, more=[]), tags, float("inf")],
            tags,
            {1: "a", "1": "b", "tags": tags},
            {"label": "\ud800", "tags": tags},
        ]
        for value in inputs:
            for name in ("runs.charge", "runs.unknown"):
                envelope = await invoker.invoke(name, value)
                self._codes.append(envelope.status)
        await workflow.wait_condition(lambda: self._finished)
        return self._codes

    @workflow.query
    def count(self) -> int:
        """How many executions have ended."""
        return len(self._codes)

    @workflow.query
    def order(self) -> list[str]:
        """In which order this process walks the set."""
        return list(set(WORDS))

    @workflow.signal
    def finish(self) -> None:
        """Let the workflow end."""
        self._finished = True
