"""A workflow whose module imports a catalogue of capabilities."""

from temporalio import workflow

from temperance.workflows import Invoker

from .catalogue import CATALOGUE
from .orders import ADA


@workflow.defn
class StartGoverned:
    """Starts and ends."""

    @workflow.run
    async def run(self) -> int:
        """Makes an invoker, and requests nothing."""
        Invoker(actor=ADA, surface="agent")
        return len(CATALOGUE)
