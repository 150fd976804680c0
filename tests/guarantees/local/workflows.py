"""Workflows that ask for reads."""

import asyncio
from datetime import timedelta
from typing import cast

from pydantic import BaseModel
from temporalio import workflow
from temporalio.exceptions import ApplicationError

from temperance import Actor, ExecutionResult
from temperance.workflows import Invoker
from tests.guarantees.local.capabilities import Answer, Question

Found = ExecutionResult[Answer]


class Ask(BaseModel):
    """One execution to ask for, with an input that is so many bytes larger than it seems."""

    capability: str
    question: Question
    step: str | None = None
    queue: str | None = None
    padding: int = 0


class Plan(BaseModel):
    """What a workflow asks for: one after the other or all at once, within `seconds`.

    Then it fails, while its attempt is not over `fails`; continues as new, `again` times; or holds.
    Envelopes that are all completed are dropped at the end, unless it is to `keep` them.
    """

    asks: tuple[Ask, ...]
    at_once: bool = False
    seconds: float | None = None
    fails: int = 0
    again: int = 0
    hold: bool = False
    keep: bool = True


@workflow.defn
class Reader:
    """Asks for what its plan and its signals say."""

    def __init__(self) -> None:
        self.found: list[Found] = []
        self.noted: list[str] = []
        self.finished = False

    @workflow.run
    async def run(self, plan: Plan) -> list[Found]:
        if plan.at_once:
            await asyncio.gather(*(self.ask(ask) for ask in plan.asks))
        elif plan.seconds is None:
            for ask in plan.asks:
                await self.ask(ask)
        else:
            await self.within(plan)
        if workflow.info().attempt <= plan.fails:
            raise ApplicationError("not yet", type="NotYet")
        if plan.again:
            workflow.continue_as_new(plan.model_copy(update={"again": plan.again - 1}))
        if plan.hold:
            await workflow.wait_condition(lambda: self.finished)
        if not plan.keep and all(found.status == "completed" for found in self.found):
            return []
        return self.found

    async def within(self, plan: Plan) -> None:
        """Asks for as long as asyncio's own timeout allows."""
        try:
            async with asyncio.timeout(plan.seconds):
                for ask in plan.asks:
                    await self.ask(ask)
        except TimeoutError:
            self.noted.append("timed out")

    async def ask(self, ask: Ask) -> None:
        invoker = Invoker(actor=Actor(id="ada"), task_queue=ask.queue)
        # An input that is too large to start a workflow with grows here.
        question = ask.question.model_copy(update={"note": ask.question.note + "n" * ask.padding})
        # By id, outputs are JSON-like; they are read as answers where they arrive.
        envelope = await invoker.invoke(
            ask.capability, question.model_dump(mode="json"), step=ask.step, wait=False
        )
        self.found.append(cast(Found, envelope))
        self.noted.append(ask.question.name)

    @workflow.signal
    async def more(self, ask: Ask) -> None:
        """Ask for one more."""
        await self.ask(ask)

    @workflow.signal
    def finish(self) -> None:
        """Let it end."""
        self.finished = True

    @workflow.query
    def so_far(self) -> list[Found]:
        """The envelopes so far."""
        return self.found

    @workflow.query
    def notes(self) -> list[str]:
        """What happened so far, in its order."""
        return self.noted


@workflow.defn
class Group:
    """Asks for two at once, and gives both up when one of them ends badly."""

    def __init__(self) -> None:
        self.found: list[Found] = []

    @workflow.run
    async def run(self, first: Ask, second: Ask) -> list[Found]:
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.ask(first))
                group.create_task(self.ask(second))
        except* RuntimeError:
            await workflow.sleep(timedelta(milliseconds=1))
        return self.found

    async def ask(self, ask: Ask) -> None:
        invoker = Invoker(actor=Actor(id="ada"))
        envelope = await invoker.invoke(ask.capability, ask.question.model_dump(mode="json"))
        self.found.append(cast(Found, envelope))
        if envelope.status == "failed":
            raise RuntimeError

    @workflow.query
    def so_far(self) -> list[Found]:
        """The envelopes so far."""
        return self.found
