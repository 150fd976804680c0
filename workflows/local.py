"""One execution as a local activity: begun, awaited, read, and tried again (decision 0018).

The retries are the workflow's own, a timer and a local activity each, by the plan that the server
is given for a normal activity. So they are in history: how often it was tried, and what each
attempt came to, outlives the worker.
"""

import asyncio
from typing import Final

from temporalio import workflow
from temporalio.common import RawValue, RetryPolicy

from ..runtime.messages import Ask, Carry
from ..runtime.names import TOLD
from ..runtime.placement import LARGEST
from ..runtime.wire import encode
from .cancellation import Cancellations
from .execution import Execution, raw_value
from .local_failure import Again, cancelled_between, read_local_failure
from .options import summary_of
from .reading import Answer, Asked, read_demand, read_result
from .run import current_run

ONCE: Final = RetryPolicy(maximum_attempts=1)


async def execute_locally(
    asked: Asked, data: bytes, ask: Ask, step_id: str, cancellations: Cancellations
) -> Execution:
    """Runs an execution inside this worker and brings it to its end.

    Args:
        asked: The request.
        data: Its raw input as bytes of JSON.
        ask: The request context.
        step_id: The activity id.
        cancellations: Remember a cancellation that arrives meanwhile.

    Returns:
        How it ended.

    Raises:
        asyncio.CancelledError: The calling task was cancelled while the execution waited for others
            to end; it was not begun.
    """
    outbox = current_run().outbox
    request = (raw_value(data), raw_value(ask.to_json()))
    summary = f"{summary_of(asked.capability, ask.actor)}, {ask.surface}"[:200]
    carry = Carry()
    while True:
        try:
            await outbox.local_room()
        except asyncio.CancelledError:
            if not carry.errors:
                raise
            cancellations.arrived = True
            return Execution(cancelled_between(asked, carry))
        handle = _start(asked, request, carry, step_id, summary)
        size = LARGEST
        try:
            await cancellations.until_done(handle, stop=True)
            failure = None if handle.cancelled() else handle.exception()
            if failure is None and not handle.cancelled():
                value: RawValue = handle.result()
                size = len(value.payload.data)
                return Execution(Answer(read_result(asked, value)), read_demand(value))
        finally:
            outbox.local.end(size)
        found = read_local_failure(asked, failure, carry)
        if not isinstance(found, Again):
            return Execution(found)
        carry = found.carry
        if not cancellations.arrived:
            timer = asyncio.create_task(workflow.sleep(found.delay))
            await cancellations.until_done(timer, stop=True)
        if cancellations.arrived:
            return Execution(cancelled_between(asked, carry))


def _telling(context: RawValue, carry: Carry) -> RawValue:
    """The request context of one attempt, with what the attempts before it came to."""
    told = raw_value(context.payload.data)
    told.payload.metadata[TOLD] = encode(carry.details())
    return told


def _start(
    asked: Asked,
    request: tuple[RawValue, RawValue],
    carry: Carry,
    step_id: str,
    summary: str,
) -> workflow.ActivityHandle[RawValue]:
    options = current_run().options.of(asked.capability, rerun=False)
    return workflow.start_local_activity(
        asked.capability.id,
        args=[request[0], _telling(request[1], carry)],
        activity_id=step_id,
        result_type=RawValue,
        start_to_close_timeout=options["start_to_close_timeout"],
        retry_policy=ONCE,
        cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        summary=summary,
    )
