"""An attempt that runs as a local activity, inside the asking workflow's worker (decision 0018).

The server knows nothing of it: there is no heartbeat, no lease that could have been given to
somebody else, and no record of the attempts before. What those came to is told by the asking
workflow, which keeps count. Being cancelled says little: the worker also cancels an attempt whose
workflow task was lost, and which runs again. So a cancelled one records no end; whoever asked does,
if anybody still does.
"""

import dataclasses
from datetime import timedelta
from typing import Final

from pydantic_core import from_json
from temporalio import activity
from temporalio.common import RawValue

from ..runtime.call import Broke, Interruption
from ..runtime.error import CapabilityError
from ..runtime.messages import Carry
from ..runtime.names import PUT_OFF, TOLD, UNKNOWN_ERROR
from ..runtime.placement import LARGEST
from .failure import AttemptFailed

NO_TIME: Final = timedelta(0)


class Unheard:
    """Stands where a normal attempt has its heartbeats: nobody would hear them."""

    spent = NO_TIME

    def enter(self) -> None:
        """Nothing to note."""

    def stop(self) -> None:
        """Nothing to stop."""

    async def lost(self) -> bool:
        """Nobody else can have been given the attempt while it runs."""
        return False


def refuse_while_stopping() -> None:
    """Puts an attempt off that arrives on a worker which is shutting down.

    A worker waits for its local activities without end, and a workflow may ask for one after the
    other: so none is begun any more, and the workflow asks again, of another worker.

    Raises:
        AttemptFailed: `PUT_OFF`; nothing was begun or recorded.
    """
    if activity.is_worker_shutdown():
        raise AttemptFailed("The worker shuts down.", type=PUT_OFF, non_retryable=True)


def told_in(context: object) -> bytes | None:
    """What the asking workflow told of earlier attempts, as JSON; ``None`` from foreign code.

    Args:
        context: The request context, as it arrived.
    """
    return context.payload.metadata.get(TOLD) if isinstance(context, RawValue) else None


def told_before(info: activity.Info, told: bytes | None) -> Carry:
    """What the attempts before this one came to.

    Args:
        info: The activity's own info. Where foreign code has the SDK retry, it counts attempts of
            which nothing is known.
        told: What `told_in` gave.
    """
    try:
        carry = Carry.from_details(None if told is None else from_json(told))
    except ValueError:
        carry = Carry()
    missing = info.attempt - 1 - len(carry.errors)
    if missing <= 0:
        return carry
    return Carry(carry.errors + (UNKNOWN_ERROR,) * missing, "possible", carry.entered)


def largest_output(limit: int) -> int:
    """Most bytes of an output, where as many outputs as end together travel in one message."""
    return min(limit, LARGEST)


def interruption() -> Interruption:
    """Why the attempt was interrupted: ``lost`` wherever a cancellation may not be the caller's."""
    details = activity.cancellation_details()
    return "shutdown" if details is not None and details.worker_shutdown else "lost"


def stopped(broke: Broke) -> Broke:
    """What is answered of an attempt that was cancelled: only the caller's cancellation gets it."""
    if broke.interruption != "lost":
        return broke
    error = CapabilityError("CANCELLED", stage=broke.error.stage)
    return dataclasses.replace(
        broke, error=error, info=error.public(), retries=False, interruption="cancelled"
    )
