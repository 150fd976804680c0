"""Background heartbeats: how cancellation and the death of a worker are noticed (DESIGN section 6).

Only attempts that outlast a second beat; the usual short one sends nothing. The details of a
heartbeat are what the next attempt gets to know of this one.
"""

import asyncio
import contextvars
from typing import Final

from temporalio import activity

from ..runtime.messages import Carry

INTERVAL: Final = 1.0
"""Seconds to the first heartbeat, and between two."""


class Heartbeat:
    """Beats while an attempt runs, on behalf of a handler that need not know.

    Args:
        carry: What earlier attempts told.
    """

    __slots__ = ("_carry", "_context", "_entered", "_loop", "_timer")

    def __init__(self, carry: Carry) -> None:
        self._carry = carry
        self._entered = False
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()
        self._timer = self._loop.call_later(INTERVAL, self._beat, context=self._context)

    def enter(self) -> None:
        """Notes that the handler is entered; later heartbeats say so."""
        self._entered = True

    def stop(self) -> None:
        """Stops beating."""
        self._timer.cancel()

    def _beat(self) -> None:
        entered = self._entered or self._carry.entered
        effect = "possible" if self._entered else self._carry.effect
        activity.heartbeat(Carry(self._carry.errors, effect, entered).details())
        self._timer = self._loop.call_later(INTERVAL, self._beat, context=self._context)


def hand_over(carry: Carry) -> None:
    """Tells the next attempt how this one ended, right before its failure is raised."""
    activity.heartbeat(carry.details())
