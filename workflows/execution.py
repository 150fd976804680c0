"""One execution as workflow code sees it: scheduled, awaited, read (G1, DESIGN section 6)."""

from typing import NamedTuple

from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue
from temporalio.exceptions import ActivityError, CancelledError

from ..runtime.call import Asked as Demand
from ..runtime.envelope import Completed
from ..runtime.messages import Ask
from .cancellation import Cancellations
from .options import summary_of
from .reading import Answer, Asked, read_demand, read_result
from .reading_failure import read_failure
from .run import current_run

_JSON = Payload(metadata={"encoding": b"json/plain"})


class Execution(NamedTuple):
    """How an execution ended.

    Args:
        answer: What was read.
        demand: What an approval is to be started with, where one is required.
    """

    answer: Answer
    demand: Demand | None = None


async def execute(
    asked: Asked,
    data: bytes,
    ask: Ask,
    step_id: str,
    cancellations: Cancellations,
    *,
    task_queue: str | None = None,
) -> Execution:
    """Schedules the activity of an execution and brings it to its end.

    A cancellation of the calling task cancels the attempt, and the attempt's own answer is waited
    for (`ActivityCancellationType.WAIT_CANCELLATION_COMPLETED`).

    Args:
        asked: The request.
        data: Its raw input as bytes of JSON.
        ask: The request context.
        step_id: The activity id.
        cancellations: Remember a cancellation that arrives meanwhile.
        task_queue: Where it runs; the workflow's own unless given.

    Returns:
        How it ended; nothing is raised for a cancellation.
    """
    outbox = current_run().outbox
    # The next one in line is let in where this one ends, in the order of asking.
    await outbox.under_way.acquire()
    try:
        return await _execute(asked, data, ask, step_id, cancellations, task_queue=task_queue)
    finally:
        outbox.under_way.release()


async def _execute(
    asked: Asked,
    data: bytes,
    ask: Ask,
    step_id: str,
    cancellations: Cancellations,
    *,
    task_queue: str | None,
) -> Execution:
    rerun = follows_another_run()
    handle = workflow.start_activity(
        asked.capability.id,
        args=[raw_value(data), raw_value(ask.to_json())],
        activity_id=step_id,
        task_queue=task_queue,
        result_type=RawValue,
        cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        summary=summary_of(asked.capability, ask.actor),
        **current_run().options.of(asked.capability, rerun=rerun),
    )
    await cancellations.until_done(handle, stop=True)
    if handle.cancelled():
        return Execution(read_failure(asked, CancelledError(), rerun=rerun))
    failure = handle.exception()
    if failure is None:
        value: RawValue = handle.result()
        envelope = read_result(asked, value)
        demand = None if type(envelope) is Completed else read_demand(value)
        return Execution(Answer(envelope), demand)
    if isinstance(failure, ActivityError):
        return Execution(read_failure(asked, failure, rerun=rerun))
    raise failure


def follows_another_run() -> bool:
    """Whether this run came from a reset or a workflow-level retry, so that others came before."""
    info = workflow.info()
    return info.attempt > 1 or info.run_id != info.original_execution_run_id


def raw_value(data: bytes) -> RawValue:
    """Bytes of JSON as an argument, without asking the payload converter."""
    payload = Payload()
    payload.CopyFrom(_JSON)  # a third of what naming the encoding anew takes
    payload.data = data
    return RawValue(payload)
