"""Asks `Runtime` for executions of a single capability."""

from collections.abc import Callable
from typing import Any

from temperance.runtime.app import App
from temperance.runtime.envelope import (
    ExecutionResult,
)
from temperance.runtime.runtime import Runtime
from tests.runtime.attempts import (
    Slip,
)
from tests.runtime.orders import ALICE, Order

ORDER = Order(order_id="o-1")


class Clock:
    """Stands for `asyncio.sleep`, and notes the delays."""

    def __init__(self) -> None:
        self.delays: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.delays.append(seconds)


def failing(times: int, error: Callable[[], BaseException]) -> Callable[..., Any]:
    """A handler that fails so many times, and then succeeds."""
    left = times

    async def handler(order: Order) -> Slip:
        nonlocal left
        left -= 1
        if left >= 0:
            raise error()
        return Slip(number=order.order_id)

    return handler


def runtime_of(app: App, clock: Clock | None = None) -> Runtime:
    return Runtime(app, sleep=(clock or Clock()).sleep)


async def ask(runtime: Runtime, input: object = ORDER, **options: Any) -> ExecutionResult[object]:
    given: dict[str, Any] = {"actor": ALICE, "surface": "agent"}
    return await runtime.invoke("orders.refund", input, **(given | options))
