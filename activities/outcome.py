"""The outcome of an approval, whichever run of it comes to one (G3)."""

from temporalio.client import Client, WorkflowFailureError
from temporalio.common import RawValue


async def outcome_of(client: Client, approval: str) -> RawValue | None:
    """Waits until an approval is closed.

    A reset ends the run that is waited for and starts another one, which the server tells a parent
    workflow and nobody else: so the latest run is asked for after each that has none.

    Args:
        client: A connected client.
        approval: The approval's workflow id.

    Returns:
        The envelope as bytes of JSON; ``None`` where the latest run ended without a result.

    Raises:
        temporalio.service.RPCError: There is no such workflow, or the server cannot be reached.
    """
    ended: str | None = None
    while True:
        described = await client.get_workflow_handle(approval).describe()
        if described.run_id == ended:
            return None
        handle = client.get_workflow_handle(approval, run_id=described.run_id, result_type=RawValue)
        try:
            value: RawValue = await handle.result()
        except WorkflowFailureError:
            ended = described.run_id
        else:
            return value
