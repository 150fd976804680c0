"""An application with a read that runs in the asking worker."""

from datetime import timedelta

from pydantic import BaseModel

from temperance import App, Governance, capability


class Order(BaseModel):
    """An order."""

    id: str


@capability(
    "orders.glance",
    description="Glance at an order.",
    expose={"workflow"},
    side_effect="read",
    risk="low",
    placement="local",
    timeout=timedelta(seconds=1),
)
async def glance(input: Order) -> Order:
    """The order."""
    return input


app = App(Governance([glance]), task_queue="nearby")
