"""The tool that every arm calls, and the script that stands for a model."""

import os
import signal
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

from pydantic import BaseModel

TELLTALE: Final = "the password of the database"
"""In the text of what a flaky order raises."""

FLAKY: Final = "flaky"
"""Part of the id of an order that takes effect, and then fails, twice; the third try works."""

DEADLY: Final = "deadly"
"""Part of the id of an order that takes effect, and then kills the process, once."""

ONCE: Final = "once"
"""Begins a prompt whose run asks for one attempt only, where an arm leaves that to its user."""

TIMEOUT: Final = timedelta(seconds=10)
"""Of one attempt at the tool, in every arm: only by it is a dead worker's attempt found out."""


class Order(BaseModel):
    """What the tool gives."""

    order_id: str
    cents: int


class Effects:
    """How often the tool took effect, by order; of orders that make trouble also on disk."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.folder: Path | None = None

    def take(self, order_id: str, key: str) -> int:
        """Counts one effect, and says how many there are of this order.

        Args:
            order_id: The order.
            key: What the tool was given beside its arguments to tell this request by.
        """
        self.counts[order_id] += 1
        if self.folder is None or not (FLAKY in order_id or DEADLY in order_id):
            return self.counts[order_id]
        with (self.folder / order_id).open("a") as file:  # outlives the process
            file.write(f"{key}\n")
        return len(keys_of(self.folder, order_id))


EFFECTS: Final = Effects()


def keys_of(folder: Path, order_id: str) -> Sequence[str]:
    """What the tool was given with each effect of an order that makes trouble."""
    file = folder / order_id
    return file.read_text().splitlines() if file.exists() else []


async def settle(order_id: str, key: str = "") -> Order:
    """Settles an order: takes effect, and then fails or dies where the order is such a one."""
    times = EFFECTS.take(order_id, key)
    if FLAKY in order_id and times < 3:
        raise ConnectionError(TELLTALE)
    if DEADLY in order_id and times < 2:
        os.kill(os.getpid(), signal.SIGKILL)
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
