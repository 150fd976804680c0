"""Whether an activity is a further series of an execution, as whoever scheduled it says (G5, G11).

A series is given the key of the execution that it continues. So it is not believed without the
server: in a workflow its activity id must be the one that the series of that step has; without one
the server must also know the activity that is continued, for the same capability, input and
requester, and that it has ended without an answer.
"""

import asyncio
import logging
from typing import Any, Final

from temporalio import activity
from temporalio.client import ActivityExecutionStatus, Client
from temporalio.common import RawValue

from ..runtime.capability import Capability
from ..runtime.error import CapabilityError
from ..runtime.messages import Ask
from ..runtime.series import Series
from .payload import unwrap

_ENDED: Final = frozenset({ActivityExecutionStatus.FAILED, ActivityExecutionStatus.TIMED_OUT})

_log = logging.getLogger("temperance.activity")


async def series_of(
    info: activity.Info,
    ask: Ask | None,
    capability: Capability[Any, Any],  # of any input and output
    raw: object,
) -> Series | CapabilityError | None:
    """The series that an activity is.

    Args:
        info: The activity's own info.
        ask: The request context.
        capability: What is asked for.
        raw: The raw input, unwrapped.

    Returns:
        ``None`` where it is a first one. RETRY_FORBIDDEN where it says that it continues a request
        of which the server does not say so, or cannot be asked: it is never guessed.
    """
    series = None if ask is None else ask.series
    if ask is None or series is None or info.activity_id != series.again_id:
        return None
    if info.workflow_id is not None:
        return series
    if series.number == 1:
        return None
    try:
        vouched = await _vouched(activity.client(), ask, series, capability, raw)
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - it is never guessed
        reason = type(error).__name__
        _log.warning("request %s could not be read (%s)", series.step, reason)
        return CapabilityError("RETRY_FORBIDDEN", audit_reason=f"unreadable:{reason}")
    return series if vouched else CapabilityError("RETRY_FORBIDDEN", audit_reason="unvouched")


async def _vouched(
    client: Client, ask: Ask, series: Series, capability: Capability[Any, Any], raw: object
) -> bool:
    handle = client.get_activity_handle(series.step, run_id=series.run_id or "")
    described = await handle.describe(include_input=True)
    if described.activity_type != capability.id or described.status not in _ENDED:
        return False
    recorded: list[RawValue] = await described.input([RawValue, RawValue]) or []
    if len(recorded) != 2:
        return False
    earlier = unwrap(recorded[0])
    if not isinstance(earlier, bytes) or not isinstance(raw, bytes):
        return False
    asked = Ask.from_json(recorded[1].payload.data)
    same = (str(asked.actor), asked.surface) == (str(ask.actor), ask.surface)
    return same and capability.input_schema.same(earlier, raw)
