"""A short read: as a local activity and as a normal one, governed and by hand (decision 0018).

Workflow, capabilities and activities in one place, for a worker of their own: a worker whose
application has local capabilities watches the local activities of all its workflows.
"""

from datetime import timedelta
from typing import Final, Literal

from temporalio import activity, workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from temperance import Capability, capability
    from temperance.runtime.names import Placement
    from temperance.workflows import Invoker
    from temperance.workflows.options import derive_options, summary_of

    from . import stopwatch
    from .orders import ADA, RefundInput, RefundResult

Arm = Literal["local by hand", "local by hand again", "local governed", "governed", "by hand"]

LOCAL: Final[tuple[Arm, ...]] = ("local by hand", "local by hand again", "local governed")
NORMAL: Final[tuple[Arm, ...]] = ("governed", "by hand")


async def look(input: RefundInput) -> RefundResult:
    """The same trivial work for all."""
    return RefundResult(refund_id=input.order_id, cents=input.cents)


def read(id_: str, placement: Placement) -> Capability[RefundInput, RefundResult]:
    """The work as a capability."""
    return capability(
        id_,
        description="Look an order up.",
        expose={"agent"},
        side_effect="read",
        risk="low",
        timeout=timedelta(seconds=5),
        placement=placement,
    )(look)


near: Final = read("orders.near", "local")
far: Final = read("orders.far1", "remote")


@activity.defn(name="orders.hand")
async def by_hand(input: RefundInput) -> RefundResult:
    """The work as a hand-written activity."""
    return RefundResult(refund_id=input.order_id, cents=input.cents)


OPTIONS: Final = derive_options(far)
ONCE: Final = RetryPolicy(maximum_attempts=1)
SUMMARY: Final = f"{summary_of(near, ADA)}, agent"


@workflow.defn
class Reads:
    """One read after the other, these arms taking turns."""

    @workflow.run
    async def run(self, arms: list[Arm], rounds: int) -> None:
        """Runs each arm once in each round, beginning with another one each time."""
        invoker = Invoker(actor=ADA, surface="agent")
        await self._step(arms[-1], RefundInput(order_id="o-first", cents=1999), invoker)
        for number in range(rounds):
            first = number % len(arms)
            for arm in (*arms[first:], *arms[:first]):
                given = RefundInput(order_id=f"o-{number:05}", cents=1999)
                since = stopwatch.now()
                await self._step(arm, given, invoker)
                stopwatch.lap(arm, since)

    async def _step(self, arm: Arm, given: RefundInput, invoker: Invoker) -> None:
        match arm:
            case "local by hand" | "local by hand again":
                await workflow.execute_local_activity(
                    by_hand,
                    given,
                    start_to_close_timeout=OPTIONS["start_to_close_timeout"],
                    retry_policy=ONCE,
                )
            case "by hand":
                await workflow.execute_activity(by_hand, given, **OPTIONS)
            case "local governed":
                (await invoker.invoke(near, given)).unwrap()
            case "governed":
                (await invoker.invoke(far, given)).unwrap()
