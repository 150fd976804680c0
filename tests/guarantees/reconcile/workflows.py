"""Workflows that pay."""

from typing import cast

from temporalio import workflow
from temporalio.exceptions import ApplicationError

from temperance import Actor, Completed, ExecutionResult, Failed, StepError
from temperance.workflows import Invoker
from tests.guarantees.reconcile.payments import Payment, Receipt

Answer = ExecutionResult[Receipt]
ADA = Actor(id="ada")


@workflow.defn
class Pays:
    """One payment; holds afterwards where told to, so that it can be reset."""

    def __init__(self) -> None:
        self._told = False
        self._answers: list[Answer] = []

    @workflow.run
    async def run(self, capability: str, payment: Payment, hold: bool = False) -> Answer:
        answer = cast(Answer, await Invoker(actor=ADA).invoke(capability, payment, step="pay"))
        self._answers.append(answer)
        if hold:
            await workflow.wait_condition(lambda: self._told)
        return answer

    @workflow.signal
    def finish(self) -> None:
        """End."""
        self._told = True

    @workflow.query
    def answers(self) -> list[Answer]:
        """What was answered."""
        return self._answers


@workflow.defn
class PaysAgain:
    """Has what did not happen run again by itself, and tries what is refused."""

    @workflow.run
    async def run(
        self, capability: str, payment: Payment, second: str = "ada"
    ) -> list[Answer | str]:
        invoker = Invoker(actor=ADA)
        first = cast(Answer, await invoker.invoke(capability, payment))
        answers: list[Answer | str] = [first]
        invoker = Invoker(actor=Actor(id=second))
        for _ in range(2):
            if not isinstance(first, Failed):
                break
            try:
                answers.append(cast(Answer, await invoker.run_again(capability, first)))
            except StepError as refusal:
                answers.append(str(refusal))
        return answers


@workflow.defn
class PaysElsewhere:
    """One payment by the workers of another queue."""

    @workflow.run
    async def run(self, capability: str, payment: Payment, queue: str) -> Answer:
        invoker = Invoker(actor=ADA, task_queue=queue)
        return cast(Answer, await invoker.invoke(capability, payment, step="pay"))


@workflow.defn
class Misnames:
    """Gives a step a name that the library's own have."""

    @workflow.run
    async def run(self, step: str) -> str:
        try:
            await Invoker(actor=ADA).invoke("pay.charge", Payment(label="x"), step=step)
        except StepError as refusal:
            return str(refusal)
        return "done"


@workflow.defn
class Retried:
    """Fails at its first attempt, after the payment."""

    @workflow.run
    async def run(self, capability: str, payment: Payment) -> Answer:
        answer = cast(Answer, await Invoker(actor=ADA).invoke(capability, payment, step="pay"))
        if workflow.info().attempt == 1:
            raise ApplicationError("once more")
        return answer


def output(answer: Answer) -> Receipt:
    """The output of a completed payment."""
    assert isinstance(answer, Completed), answer
    return Receipt.model_validate(answer.output)
