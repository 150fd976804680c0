"""The application that the tests of the command line serve; its effects are lines of a file."""

import asyncio
import logging
import os
import time
from datetime import timedelta
from pathlib import Path

import structlog
from pydantic import BaseModel

from temperance import App, Approval, Governance, Redact, Retry, capability

SECRET = "sk-live-51HqLyj"


class Order(BaseModel):
    """Which order, and how long its handling takes."""

    order: str
    seconds: float = 0.0


class Receipt(BaseModel):
    """What was done."""

    order: str
    note: str = ""


def effects() -> Path:
    """The file whose lines are the effects."""
    return Path(os.environ["SHOP_EFFECTS"])


def happen(what: str) -> None:
    """An effect."""
    with effects().open("a") as file:
        file.write(f"{what}\n")


@capability(
    "orders.look_up",
    description="Look an order up.",
    expose={"direct", "agent"},
    side_effect="read",
    risk="low",
    retry=Retry(max_retries=2, backoff=timedelta(milliseconds=1)),
    tags={"orders"},
)
async def look_up(input: Order) -> Receipt:
    """Logs by both ways; neither says what the input is."""
    structlog.get_logger("shop").info("looked up by structlog")
    logging.getLogger("shop").info("looked up by logging")
    return Receipt(order=input.order, note="bell \x07 and \x1b[31mred")


@capability(
    "orders.refund",
    description="Refund an order.",
    expose={"direct"},
    side_effect="write",
    risk="high",
    timeout=timedelta(seconds=20),
    queue_timeout=timedelta(minutes=2),
    redact=Redact(output=("note",)),
)
async def refund(input: Order) -> Receipt:
    """Takes its time."""
    happen(f"begun {input.order}")
    await asyncio.sleep(input.seconds)
    happen(f"refunded {input.order}")
    return Receipt(order=input.order)


@capability(
    "orders.print_label",
    description="Print a label: it can be asked to stop, and does not.",
    expose={"direct"},
    side_effect="external",
    risk="medium",
    timeout=timedelta(seconds=20),
)
def print_label(input: Order) -> Receipt:
    """A thread that heeds nothing."""
    happen(f"begun {input.order}")
    time.sleep(input.seconds)
    return Receipt(order=input.order)


@capability(
    "orders.fail",
    description="Fail, with a secret in the text of the exception.",
    expose={"direct"},
    side_effect="write",
    risk="low",
)
async def fail(input: Order) -> Receipt:
    """Raises."""
    raise RuntimeError(f"no connection to {input.order} with {SECRET}")


@capability(
    "orders.erase",
    description="Erase an order.",
    expose={"direct"},
    side_effect="destructive",
    risk="critical",
    approval=Approval(type="manager", reason="Erasing cannot be undone."),
)
async def erase(input: Order) -> Receipt:
    """Not without a manager."""
    happen(f"erased {input.order}")
    return Receipt(order=input.order)


app = App(Governance([look_up, refund, print_label, fail, erase]), task_queue="shop")


def make_app() -> App:
    """A function is no App."""
    return app
