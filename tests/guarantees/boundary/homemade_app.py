"""A capability whose model lies beside a workflow."""

from temperance import App, Governance, capability
from tests.guarantees.boundary.homemade import Basket


@capability(
    "homemade.count", description="Count.", expose={"agent"}, side_effect="none", risk="low"
)
def count(input: Basket) -> int:
    return len(input.words) + len(input.more["a"])


def homemade() -> App:
    """The application."""
    return App(Governance([count]), sinks=[])
