"""Deadlines of attempts: one timer of the event loop for all that run in it.

Every attempt has a deadline, and hardly one reaches it. A timer of its own, made and cancelled,
costs 1.3 microseconds, and several times that where the processor's caches are cold; a place in a
mapping costs a tenth. So there is one timer, for the earliest alarm that was set when it was made.
It is not taken back when that alarm is: when it goes off, it looks for what is due, and is made
again for what is left.
"""

import asyncio
import threading
from typing import Protocol


class Ringer(Protocol):
    """What an alarm is set for; it has one at a time."""

    def ring(self) -> None:
        """Called by the event loop once the time has come; the alarm is no longer set then."""
        ...


class Alarms:
    """The alarms of one event loop.

    Args:
        loop: The loop; alarms are set and cleared from inside of it.
    """

    __slots__ = ("_at", "_set", "_timer", "loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._set: dict[Ringer, float] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._at = 0.0

    def set(self, ringer: Ringer, when: float) -> None:
        """Sets the alarm of a ringer, in place of one that it had.

        Args:
            ringer: Whom to call.
            when: On the clock of the loop.
        """
        self._set[ringer] = when
        if self._timer is None or when < self._at:
            self._arm(when)

    def clear(self, ringer: Ringer) -> None:
        """Takes back the alarm of a ringer, if it has one: it does not ring any more."""
        self._set.pop(ringer, None)

    def _arm(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._at = when
        self._timer = self.loop.call_at(when, self._go_off)

    def _go_off(self) -> None:
        self._timer = None
        now = self.loop.time()
        due = [(when, ringer) for ringer, when in self._set.items() if when <= now]
        due.sort(key=lambda entry: entry[0])
        for _, ringer in due:
            if self._set.pop(ringer, None) is None:
                continue  # one that rang before has cleared it
            try:
                ringer.ring()
            except Exception as error:  # noqa: BLE001 - the others must ring all the same
                self.loop.call_exception_handler(
                    {"message": "an alarm of an attempt failed", "exception": error}
                )
        if self._set:
            self._arm(min(self._set.values()))


# A thread runs one event loop at a time; the alarms of one before it stay with its timer. No class
# of its own: where the workflow sandbox loads this module, it can make none of that base.
_of_thread = threading.local()


def alarms_of(loop: asyncio.AbstractEventLoop) -> Alarms:
    """The alarms of the loop that runs in the calling thread."""
    alarms: Alarms | None = getattr(_of_thread, "alarms", None)
    if alarms is None or alarms.loop is not loop:
        alarms = _of_thread.alarms = Alarms(loop)
    return alarms
