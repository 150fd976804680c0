"""The next build of the parcel office: an output of the old one does not fit its model."""

from temperance import App, Governance, capability
from tests.guarantees.boundary.parcels import Order, Parcel


class TrackedParcel(Parcel):
    tracking: str


@capability(
    "parcels.send",
    description="Send.",
    expose={"agent", "workflow"},
    side_effect="write",
    risk="low",
)
async def send_tracked(input: Order) -> TrackedParcel:
    return TrackedParcel(tracking="t")


def renewed() -> App:
    """The application of the next build."""
    return App(Governance([send_tracked]), sinks=[])
