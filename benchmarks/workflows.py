"""The workflows that are measured."""

from temporalio import workflow

from temperance.workflows import Invoker

from . import stopwatch
from .arms import TURNS, Arm
from .orders import ADA, OPTIONS, RefundInput, give_back, refund, settle


@workflow.defn
class Alternating:
    """One activity after the other, the arms taking turns."""

    @workflow.run
    async def run(self, rounds: int) -> None:
        """Runs each arm once in each round; no two requests are equal."""
        invoker = Invoker(actor=ADA, surface="agent")
        for number in range(rounds):
            for arm in TURNS[number % len(TURNS)]:
                given = RefundInput(order_id=f"o-{number:05}", cents=1999)
                since = stopwatch.now()
                await _step(arm, given, invoker)
                stopwatch.lap(arm, since)


@workflow.defn
class Repeating:
    """One activity after the other, all of one arm."""

    @workflow.run
    async def run(self, arm: Arm, count: int) -> None:
        """Runs the arm so many times; no two requests are equal."""
        invoker = Invoker(actor=ADA, surface="agent")
        for number in range(count):
            await _step(arm, RefundInput(order_id=f"o-{number:05}", cents=1999), invoker)


async def _step(arm: Arm, given: RefundInput, invoker: Invoker) -> None:
    match arm:
        case "by hand" | "by hand again":
            await workflow.execute_activity(give_back, given, **OPTIONS)
        case "governed":
            (await invoker.invoke(refund, given)).unwrap()
        case "audited":
            (await invoker.invoke(settle, given)).unwrap()
