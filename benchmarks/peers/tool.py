"""The tool that every arm calls, and the script that stands for a model."""

from collections import Counter
from typing import Final

from pydantic import BaseModel

TELLTALE: Final = "the password of the database"
"""In the text of what a flaky tool raises."""

FLAKY: Final = "flaky"
EFFECTS: Final[Counter[str]] = Counter()
"""How often the tool took effect in this process, by order."""


class Order(BaseModel):
    """What the tool gives."""

    order_id: str
    cents: int


async def settle(order_id: str) -> Order:
    """Settles an order: takes effect, and then fails twice where the order is a flaky one."""
    EFFECTS[order_id] += 1
    if order_id.startswith(FLAKY) and EFFECTS[order_id] < 3:
        raise ConnectionError(TELLTALE)
    return Order(order_id=order_id, cents=1250)


def asks_for(prompt: str, answered: int) -> str | None:
    """What the model asks for next.

    Args:
        prompt: ``<prefix> <count>``: settle so many orders, whose ids begin so.
        answered: How many tool calls were answered.

    Returns:
        An order id, or ``None`` where it is done.
    """
    prefix, _, count = prompt.partition(" ")
    return None if answered >= int(count) else f"{prefix}-{answered}"
