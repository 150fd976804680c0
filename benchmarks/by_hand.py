"""The same work by hand, as a careful author writes it without the library."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from .arms import PLAIN
    from .orders import OPTIONS, RefundInput, give_back
    from .stopwatch import lap, now


@workflow.defn
class ByHand:
    """One activity after the other."""

    @workflow.run
    async def run(self, count: int) -> None:
        """Runs so many; no two requests are equal."""
        for number in range(count):
            since = now()
            given = RefundInput(order_id=f"o-{number:05}", cents=1999)
            await workflow.execute_activity(give_back, given, **OPTIONS)
            lap(PLAIN, since)
