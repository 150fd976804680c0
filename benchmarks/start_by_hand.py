"""A workflow whose module imports nothing but the SDK."""

from temporalio import workflow


@workflow.defn
class StartByHand:
    """Starts and ends."""

    @workflow.run
    async def run(self) -> int:
        """Does nothing."""
        return 0
