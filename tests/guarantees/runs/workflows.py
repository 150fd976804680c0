"""Workflows that ask for executions: by plan, signal and update, and as a deploy changes them."""

import asyncio
from datetime import timedelta
from typing import cast

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

from temperance import Actor, ExecutionResult, StepError
from temperance.workflows import Invoker
from tests.guarantees.runs.jobs import Ask, Job, Plan, Receipt

Answer = ExecutionResult[Receipt]
Answers = list[Answer]


async def invoke(ask: Ask) -> Answer:
    """Asks for one execution."""
    invoker = Invoker(actor=Actor(id=ask.actor), task_queue=ask.queue)
    # By id, outputs are JSON-like; they are read as receipts where they arrive.
    return cast(Answer, await invoker.invoke(ask.capability, ask.job, step=ask.step, wait=False))


@workflow.defn
class Script:
    """Asks for what its plan, its signals and its updates say."""

    def __init__(self) -> None:
        self._answers: Answers = []
        self._open = 0
        self._finished = False

    @workflow.run
    async def run(self, plan: Plan) -> Answers:
        beside = [asyncio.create_task(self._ask(ask)) for ask in plan.beside]
        if plan.at_once:
            await asyncio.gather(*(self._ask(ask) for ask in plan.asks))
        else:
            for ask in plan.asks:
                await self._ask(ask)
        if workflow.info().attempt <= plan.fails:
            raise ApplicationError("not yet", type="NotYet")
        await asyncio.gather(*beside)
        if plan.again:
            workflow.continue_as_new(plan.model_copy(update={"again": plan.again - 1}))
        if plan.hold:
            await workflow.wait_condition(lambda: self._finished and not self._open)
        return self._answers

    @workflow.signal
    async def ask(self, ask: Ask) -> None:
        """Ask for one more execution."""
        await self._ask(ask)

    @workflow.update
    async def ask_now(self, ask: Ask) -> Answer:
        """Ask for one more execution, and tell how it ended."""
        return await self._ask(ask)

    @workflow.signal
    def finish(self) -> None:
        """Let the workflow end."""
        self._finished = True

    @workflow.signal
    def nudge(self) -> None:
        """Make the server start a workflow task."""

    @workflow.query
    def answers(self) -> Answers:
        """The envelopes so far."""
        return self._answers

    async def _ask(self, ask: Ask) -> Answer:
        self._open += 1
        try:
            envelope = await invoke(ask)
        finally:
            self._open -= 1
        self._answers.append(envelope)
        return envelope


@workflow.defn(name="Deployed")
class Before:
    """What was deployed first: two different calls."""

    @workflow.run
    async def run(self, capability: str = "runs.charge") -> Answers:
        first = await invoke(Ask(capability=capability, job=Job(label="first")))
        second = await invoke(Ask(capability=capability, job=Job(label="second")))
        return [first, second]


@workflow.defn(name="Deployed")
class After:
    """What was deployed then: a call was inserted, and the others changed places."""

    @workflow.run
    async def run(self, capability: str = "runs.charge") -> Answers:
        inserted = await invoke(Ask(capability=capability, job=Job(label="inserted")))
        second = await invoke(Ask(capability=capability, job=Job(label="second")))
        first = await invoke(Ask(capability=capability, job=Job(label="first")))
        return [inserted, first, second]


@workflow.defn
class Stubborn:
    """Asks as its plan says, and goes on after a step was refused."""

    @workflow.run
    async def run(self, plan: Plan) -> list[str]:
        ends: list[str] = []
        for ask in plan.asks:
            try:
                envelope = await invoke(ask)
            except StepError as error:
                ends.append(str(error))
            else:
                ends.append(envelope.status)
        return ends


@workflow.defn
class LocalForeign:
    """Runs a capability's activity as a local one, where it could run again as a first attempt."""

    @workflow.run
    async def run(self, plan: Plan) -> list[object]:
        outputs: list[object] = []
        for ask in plan.asks:
            try:
                output: object = await workflow.execute_local_activity(
                    ask.capability,
                    ask.job.model_dump(mode="json"),
                    start_to_close_timeout=timedelta(seconds=5),
                    retry_policy=RetryPolicy(maximum_attempts=1),
                )
            except ApplicationError as error:  # of a local activity it comes as it is
                output = error.type
            outputs.append(output)
        return outputs


@workflow.defn
class Foreign:
    """Schedules activities by hand, as code does that knows nothing of the library."""

    @workflow.run
    async def run(self, plan: Plan) -> list[object]:
        outputs: list[object] = []
        for ask in plan.asks:
            try:
                output: object = await workflow.execute_activity(
                    ask.capability,
                    ask.job.model_dump(mode="json"),
                    activity_id=ask.step,
                    start_to_close_timeout=timedelta(seconds=plan.patience),
                    retry_policy=RetryPolicy(maximum_attempts=1),
                )
            except ActivityError as error:
                cause = error.cause
                output = cause.type if isinstance(cause, ApplicationError) else str(cause)
            outputs.append(output)
        return outputs
