"""Workflows that ask as a model does: by id, with text."""

import ast
import asyncio
from collections.abc import Callable
from typing import Any, Final

from pydantic import BaseModel
from temporalio import workflow

from temperance.runtime.actor import Actor
from temperance.runtime.names import Surface
from temperance.workflows import Invoker
from tests.guarantees.boundary.answers import Answer, answer_of
from tests.guarantees.boundary.new_build import send_tracked
from tests.guarantees.boundary.parcels import Order, Parcel

ADA = Actor(id="ada")


PAD = "<pad>"


class Question(BaseModel):
    """What a model asks for.

    `pad` characters stand for each `<pad>` in the text: what a workflow is given is small.
    """

    capability: str
    text: str
    surface: Surface = "agent"
    pad: int = 0

    async def ask(self) -> Answer:
        """Ask, and say what it was answered."""
        text = self.text.replace(PAD, "a" * self.pad)
        invoker = Invoker(actor=ADA, surface=self.surface)
        envelope = await invoker.invoke(self.capability, text, wait=False)
        return answer_of(envelope)


@workflow.defn
class Asking:
    """Asks one question after the other."""

    @workflow.run
    async def run(self, questions: list[Question]) -> list[Answer]:
        return [await question.ask() for question in questions]


@workflow.defn
class AskingAtOnce:
    """Asks all questions in the same instant."""

    @workflow.run
    async def run(self, questions: list[Question]) -> list[Answer]:
        return await asyncio.gather(*(question.ask() for question in questions))


def endless() -> object:
    """A list that contains itself."""
    rope: list[object] = []
    rope.append(rope)
    return rope


def deep() -> object:
    """Lists in lists, deeper than any call stack."""
    nested: object = 1
    for _ in range(100_000):
        nested = [nested]
    return nested


UNWRITABLE: Final[dict[str, Callable[[], object]]] = {
    "object": object,
    "endless": endless,
    "deep": deep,
    "no number": lambda: {"author": "ada", "pages": float("nan")},
    "infinite": lambda: {"author": "ada", "pages": 1, "tags": [float("inf")]},
    "no text": lambda: {"author": "\ud800", "pages": 1},
    "no key": lambda: {("author",): "ada", 1: object()},
    "no bytes": lambda: {"author": b"\xff", "pages": 1},
    "model": lambda: Parcel(weight=float("-inf")),
}
"""What has no JSON form."""


@workflow.defn
class AskingUnwritably:
    """Asks with each value that cannot be written."""

    @workflow.run
    async def run(self, capability: str) -> dict[str, Answer]:
        invoker = Invoker(actor=ADA, surface="agent")
        return {
            name: answer_of(await invoker.invoke(capability, make()))
            for name, make in UNWRITABLE.items()
        }


@workflow.defn
class AskingOddly:
    """Asks for what is no id, given as Python writes it: JSON has no such text."""

    @workflow.run
    async def run(self, written: str) -> Answer:
        named: Any = ast.literal_eval(written)
        envelope = await Invoker(actor=ADA, surface="agent").invoke(named, "{}")
        return answer_of(envelope)


@workflow.defn
class Measuring:
    """Asks all questions in the same instant, and measures the labels that it gets."""

    @workflow.run
    async def run(self, questions: list[Question]) -> list[int]:
        answers = await asyncio.gather(*(question.ask() for question in questions))
        return [len(answer["output"]["label"]) for answer in answers]


@workflow.defn
class Upgrading:
    """Of the next build, while the workers of another queue are still of the old one."""

    @workflow.run
    async def run(self, queue: str) -> Answer:
        return answer_of(await Invoker(actor=ADA, task_queue=queue).invoke(send_tracked, Order()))


@workflow.defn
class Unwrapping:
    """Fails with what it was answered."""

    @workflow.run
    async def run(self, question: Question) -> Any:  # the output of any capability
        envelope = await Invoker(actor=ADA, surface="agent").invoke(
            question.capability, question.text
        )
        return envelope.unwrap()


@workflow.defn
class AskingElsewhere:
    """Asks the workers of another queue, and then its own."""

    @workflow.run
    async def run(self, queue: str, question: Question) -> list[Answer]:
        there = Invoker(actor=ADA, surface="agent", task_queue=queue)
        answer = answer_of(await there.invoke(question.capability, question.text))
        return [answer, await question.ask()]
