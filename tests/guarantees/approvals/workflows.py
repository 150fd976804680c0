"""A workflow that asks for what people must approve."""

import asyncio
from typing import cast

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from temperance import Actor, ApprovalRequired
from temperance.workflows import Invoker
from tests.guarantees.approvals.payments import Answer, Answers, Ask, Plan


@workflow.defn
class Asking:
    """Asks for what its plan, its signals and its updates say."""

    def __init__(self) -> None:
        self._answers: Answers = []
        self._held: list[tuple[Ask, ApprovalRequired]] = []
        self._open = 0
        self._finished = False

    @workflow.run
    async def run(self, plan: Plan) -> Answers:
        try:
            if plan.at_once:
                await asyncio.gather(*(self._ask(ask) for ask in plan.asks))
            else:
                for ask in plan.asks:
                    await self._ask(ask)
            if plan.await_held:
                await asyncio.gather(*(self._await(*held) for held in self._held))
            if workflow.info().attempt <= plan.fails:
                raise ApplicationError("not yet", type="NotYet")
            if plan.hold:
                await workflow.wait_condition(lambda: self._finished and not self._open)
        except asyncio.CancelledError:
            if not self._answers:
                raise
        return self._answers

    @workflow.signal
    async def ask(self, ask: Ask) -> None:
        """Ask for one more execution."""
        await self._ask(ask)

    @workflow.signal
    def finish(self) -> None:
        """Let the workflow end."""
        self._finished = True

    @workflow.query
    def answers(self) -> Answers:
        """The envelopes so far."""
        return self._answers

    async def _ask(self, ask: Ask) -> None:
        self._open += 1
        try:
            invoker = Invoker(actor=Actor(id=ask.actor), surface="agent", task_queue=ask.queue)
            given = ask.payment if ask.raw is None else ask.raw
            envelope = await invoker.invoke(ask.capability, given, step=ask.step, wait=ask.wait)
        finally:
            self._open -= 1
        # By id, outputs are JSON-like; they are read as receipts where they arrive.
        self._answers.append(cast(Answer, envelope))
        if isinstance(envelope, ApprovalRequired):
            self._held.append((ask, envelope))

    async def _await(self, ask: Ask, envelope: ApprovalRequired) -> None:
        invoker = Invoker(actor=Actor(id=ask.actor), surface="agent")
        self._answers.append(cast(Answer, await invoker.outcome(ask.capability, envelope)))
