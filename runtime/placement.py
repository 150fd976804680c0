"""Where a capability runs: as an activity of its own, or inside the asking worker (decision 0018).

A local activity is run by the worker that runs the workflow, inside the workflow task that asked
for it, and leaves one event. When the worker or the task is lost it runs again, unseen, and the
task cannot be answered before it ends. So it is for short reads, and for nothing else (G2).
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

from .capability import Approval, Capability
from .names import PLACEMENTS, WRITE_LIKE
from .retry import Retry

LONGEST: Final = timedelta(seconds=5)
"""Most that ``timeout`` may be. With the margin for its end that is 7.5 seconds: less than 80 per
cent of the ten that a workflow task has by default, when the SDK must ask the server for more."""

MOST_RETRIES: Final = 10
"""Most ``max_retries``. Each costs about six events of history, where a normal activity's costs
none, and a history has an end."""

LARGEST: Final = 64 * 1024
"""Bytes of an output. All that end in one workflow task travel in one message, see `LocalRoom`."""


# A capability of any input and output, here and below.
def runs_locally(capability: Capability[Any, Any]) -> bool:
    """Whether a workflow runs it as a local activity, as far as the metadata says."""
    return capability.placement == "local" and capability.side_effect not in WRITE_LIKE


def problems_of_placement(capability: Capability[Any, Any]) -> Iterator[str]:
    """Yields a line for each value that keeps the capability from running where it is placed."""
    if capability.placement not in PLACEMENTS:
        yield f"placement is {str(capability.placement)[:80]!r}: give {' or '.join(PLACEMENTS)}"
        return
    if capability.placement != "local":
        return
    if str(capability.side_effect) in WRITE_LIKE:
        yield (
            f"placement is local for side_effect={capability.side_effect!r}: a local activity runs "
            "again when its worker dies, as a first attempt: leave placement out (G2)"
        )
    # Asked through `object`, because a value of a wrong type has a line of its own.
    timeout: object = capability.timeout
    retry: object = capability.retry
    approval: object = capability.approval
    if isinstance(timeout, timedelta) and timeout > LONGEST:
        yield (
            f"placement is local with a timeout of {timeout}: a workflow task waits "
            f"for it: give a timeout of at most {LONGEST.seconds} seconds, or leave placement out"
        )
    if capability.queue_timeout is not None:
        yield (
            "placement is local with a queue_timeout: it waits in no queue of the server's: leave "
            "one of them out"
        )
    if isinstance(retry, Retry) and retry.max_retries > MOST_RETRIES:
        yield (
            f"placement is local with max_retries={retry.max_retries}: each costs "
            f"events of history: give at most {MOST_RETRIES}, or leave placement out"
        )
    if isinstance(approval, Approval) and approval.required:
        yield (
            "placement is local and a person must approve each execution: what was approved runs "
            "as an activity of its own: leave placement out"
        )
