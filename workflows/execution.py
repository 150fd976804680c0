"""One execution as workflow code sees it: scheduled, awaited, read (G1, DESIGN section 6)."""

import asyncio
from dataclasses import dataclass
from typing import Any

from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue
from temporalio.exceptions import ActivityError, CancelledError

from ..runtime.call import Asked as Demand
from ..runtime.messages import Ask, Reply
from .options import derive_options, summary_of
from .reading import Answer, Asked, read_failure, read_result

_JSON = {"encoding": b"json/plain"}


@dataclass(frozen=True, slots=True)
class Execution:
    """How an execution ended.

    Args:
        answer: What was read.
        cancelled: Whether the calling task was cancelled meanwhile.
        demand: What an approval is to be started with, where one is required.
    """

    answer: Answer
    cancelled: bool
    demand: Demand | None = None


async def execute(
    asked: Asked, data: bytes, ask: Ask, step_id: str, task_queue: str | None = None
) -> Execution:
    """Schedules the activity of an execution and brings it to its end.

    A cancellation of the calling task cancels the attempt, and the attempt's own answer is waited
    for
    (`ActivityCancellationType.WAIT_CANCELLATION_COMPLETED`).

    Args:
        asked: The request.
        data: Its raw input as bytes of JSON.
        ask: The request context.
        step_id: The activity id.
        task_queue: Where it runs; the workflow's own unless given.

    Returns:
        How it ended; nothing is raised for a cancellation.
    """
    handle = workflow.start_activity(
        asked.capability.id,
        args=[_raw(data), _raw(ask.to_json())],
        activity_id=step_id,
        task_queue=task_queue,
        result_type=RawValue,
        cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        summary=summary_of(asked.capability, ask.actor),
        **derive_options(asked.capability),
    )
    cancelled = False
    while True:
        try:
            value: RawValue = await asyncio.shield(handle)
        except asyncio.CancelledError:
            if handle.cancelled():
                return Execution(read_failure(asked, CancelledError()), cancelled)
            cancelled = True
            await let_finish(handle)
            if not handle.done():
                handle.cancel()
        except ActivityError as error:
            return Execution(read_failure(asked, error), cancelled)
        else:
            return Execution(Answer(read_result(asked, value)), cancelled, _demand(value))


# A handle of an activity or of a child workflow.
async def let_finish(handle: "asyncio.Task[Any]") -> None:
    """Lets a result that has already arrived win over the cancellation that came with it.

    Both may be in one workflow task. The SDK would drop the result if the handle were cancelled
    before it has run; a few turns of the loop let it run.
    """
    for _ in range(4):
        if handle.done():
            return
        await asyncio.sleep(0)


def _raw(data: bytes) -> RawValue:
    return RawValue(Payload(metadata=_JSON, data=data))


def _demand(value: RawValue) -> Demand | None:
    data = value.payload.data
    if data.startswith(b'{"output":'):
        return None
    try:
        return Reply.from_json(data).asked
    except (ValueError, TypeError, RecursionError):
        return None
