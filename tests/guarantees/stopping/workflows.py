"""Workflows that are cancelled while they wait for executions."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import cast

from pydantic import BaseModel
from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

from temperance import Actor, ExecutionResult
from temperance.workflows import Invoker
from tests.guarantees.stopping.capabilities import Case, Mark

Envelopes = list[ExecutionResult[Mark]]


class Plan(BaseModel):
    """What a workflow asks for, and in which `manner`.

    `queue` is where the activities run, the workflow's own queue unless given.
    """

    capability: str
    cases: tuple[Case, ...]
    manner: str = "then wait"
    queue: str | None = None


@workflow.defn
class Cancelled:
    """Asks in one of several manners, and keeps what it was answered for a query."""

    def __init__(self) -> None:
        self.kept: Envelopes = []
        self.noted: list[str] = []
        self.asking: list[asyncio.Task[object]] = []

    @workflow.run
    async def run(self, plan: Plan) -> Envelopes:
        manners: dict[str, Callable[[Plan], Awaitable[None]]] = {
            "return": self.ask_each,
            "then wait": self.then_wait,
            "unwrap": self.unwrap,
            "agent": self.agent,
            "gather": self.gather,
            "group": self.group,
            "timeout": self.timeout,
            "clean up": self.clean_up,
            "task": self.in_task,
            "at once": self.at_once,
        }
        try:
            await manners[plan.manner](plan)
        except asyncio.CancelledError:
            self.noted.append("cancelled")
            raise
        return self.kept

    @workflow.query
    def envelopes(self) -> Envelopes:
        """What it was answered so far."""
        return self.kept

    @workflow.query
    def notes(self) -> list[str]:
        """What happened so far."""
        return self.noted

    @workflow.signal
    async def cancel_task(self, times: int) -> None:
        """Cancels the asking task, so many times, with a turn of the loop between two."""
        for _ in range(times):
            for task in self.asking:
                task.cancel()
            await asyncio.sleep(0)

    async def ask(self, plan: Plan, case: Case) -> ExecutionResult[Mark]:
        invoker = Invoker(actor=Actor(id="ada"), surface="agent", task_queue=plan.queue)
        answer = await invoker.invoke(plan.capability, case.model_dump(mode="json"))
        envelope = cast(ExecutionResult[Mark], answer)  # by id, outputs are JSON-like
        self.kept.append(envelope)
        self.noted.append(envelope.status)
        return envelope

    async def ask_each(self, plan: Plan) -> None:
        for case in plan.cases:
            await self.ask(plan, case)

    async def then_wait(self, plan: Plan) -> None:
        await self.ask_each(plan)
        self.noted.append("waits")
        await workflow.wait_condition(lambda: False)

    async def unwrap(self, plan: Plan) -> None:
        (await self.ask(plan, plan.cases[0])).unwrap()

    async def agent(self, plan: Plan) -> None:
        """A loop as models are driven by: it looks at nothing but the envelope."""
        while True:
            await self.ask(plan, plan.cases[0])

    async def gather(self, plan: Plan) -> None:
        self.asking = [asyncio.ensure_future(self.ask(plan, case)) for case in plan.cases]
        try:
            await asyncio.gather(*self.asking)
        except asyncio.CancelledError:
            self.noted += [f"task {_end(task)}" for task in self.asking]
            raise

    async def group(self, plan: Plan) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                self.asking = [group.create_task(self.ask(plan, case)) for case in plan.cases]
        except asyncio.CancelledError:
            self.noted += [f"task {_end(task)}" for task in self.asking]
            raise

    async def timeout(self, plan: Plan) -> None:
        """Cancels only its own asking, by asyncio's means, and then goes on."""
        try:
            async with asyncio.timeout(0.05):
                await self.ask(plan, plan.cases[0])
        except TimeoutError:
            self.noted.append("timed out")
        await self.ask(plan, plan.cases[1])

    async def clean_up(self, plan: Plan) -> None:
        """Cleans up after its cancellation, with a timeout of its own."""
        try:
            await self.then_wait(plan.model_copy(update={"cases": plan.cases[:1]}))
        except asyncio.CancelledError:
            await self.timeout(plan.model_copy(update={"cases": plan.cases[1:]}))
            raise

    async def in_task(self, plan: Plan) -> None:
        """Asks in a task that a signal cancels."""
        self.asking = [asyncio.ensure_future(self.ask(plan, plan.cases[0]))]
        await workflow.wait(self.asking)
        self.noted.append(f"task {_end(self.asking[0])}")

    async def at_once(self, plan: Plan) -> None:
        """Asks, and cancels that in the same workflow task."""
        task = asyncio.ensure_future(self.ask(plan, plan.cases[0]))
        await asyncio.sleep(0)
        task.cancel()
        await workflow.wait([task])
        self.noted.append(f"task {_end(task)}")


@workflow.defn
class Foreign:
    """Schedules a capability's activity by hand, with Temporal's own policy: without limit."""

    @workflow.run
    async def run(self, plan: Plan) -> str:
        try:
            await workflow.execute_activity(
                plan.capability,
                plan.cases[0],
                task_queue=plan.queue,
                start_to_close_timeout=timedelta(seconds=2),
            )
        except ActivityError as error:
            cause = error.cause
            if isinstance(cause, ApplicationError):
                return f"{cause.type} {cause.details[0]}"
            return type(cause).__name__
        return "completed"


def _end(task: "asyncio.Task[ExecutionResult[Mark]] | asyncio.Task[object]") -> str:
    return "cancelled" if task.cancelled() else "ended"
