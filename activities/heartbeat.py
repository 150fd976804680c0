"""Background heartbeats: how cancellation and the death of a worker are noticed (DESIGN section 6).

Only attempts that outlast a second beat, or that must sooner by the policy of whoever scheduled
them; the usual short one sends nothing. The details of a heartbeat are what the next attempt gets
to know of this one.
"""

import asyncio
import contextvars
from typing import Final

from temporalio import activity

from ..runtime.alarm import alarms_of
from ..runtime.messages import Carry
from .lease import Lease

INTERVAL: Final = 1.0
"""Most seconds to the first heartbeat, and between two."""

BEATS: Final = 3
"""How many heartbeats there are at least in a heartbeat timeout."""


class Heartbeat:
    """Beats while an attempt runs, on behalf of a handler that need not know.

    Args:
        carry: What earlier attempts told.
        lease: What the heartbeats renew.
    """

    __slots__ = ("_alarms", "_carry", "_context", "_entered", "_interval", "_lease")

    def __init__(self, carry: Carry, lease: Lease) -> None:
        self._carry = carry
        self._lease = lease
        self._entered = False
        self._interval = min(INTERVAL, lease.heartbeat_timeout / BEATS)
        self._context = contextvars.copy_context()
        self._alarms = alarms_of(asyncio.get_running_loop())
        self._alarms.set(self, self._alarms.loop.time() + self._interval)

    def enter(self) -> None:
        """Notes that the handler is entered; later heartbeats say so."""
        self._entered = True

    def stop(self) -> None:
        """Stops beating."""
        self._alarms.clear(self)

    async def lost(self) -> bool:
        """Whether the server has given the attempt up while it ran, see `Lease.lost`."""
        return self._lease.late and await self._lease.lost(self._told)

    def ring(self) -> None:
        """Sends a heartbeat, in the activity's own context."""
        self._lease.beat()
        self._context.run(activity.heartbeat, self._told.details())
        self._alarms.set(self, self._alarms.loop.time() + self._interval)

    @property
    def _told(self) -> Carry:
        entered = self._entered or self._carry.entered
        effect = "possible" if self._entered else self._carry.effect
        return Carry(self._carry.errors, effect, entered)


def hand_over(carry: Carry) -> None:
    """Tells the next attempt how this one ended, right before its failure is raised."""
    activity.heartbeat(carry.details())
