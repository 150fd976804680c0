"""What the SDK hands to the activity of a capability."""

import inspect

from temporalio.client import Client

from temperance import App, Governance, capability
from temperance.activities.governed import governed_activity
from temperance.activities.identity import Origins


@capability("orders.look", description="Look.", expose={"workflow"}, side_effect="read", risk="low")
async def look(order: str) -> str:
    return order


async def test_the_activity_has_as_many_parameters_as_workflows_and_clients_give_arguments(
    client: Client,
) -> None:
    """With another number the SDK decodes them, and what is judged is no more what was sent."""
    execute = governed_activity(App(Governance([look])), look, Origins(client))
    assert len(inspect.signature(execute).parameters) == 2
