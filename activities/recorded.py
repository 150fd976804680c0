"""What a recorded step says: whether its handler may have been entered, and for which request.

Payloads and failures are decoded by the worker's own converter, in the context in which they were
encoded: a user's codec sees what it wrote.
"""

from collections.abc import Sequence
from typing import Final, Literal

from temporalio import activity
from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import EventType, TimeoutType
from temporalio.api.failure.v1 import Failure
from temporalio.client import Client
from temporalio.common import RawValue
from temporalio.converter import ActivitySerializationContext, DataConverter
from temporalio.exceptions import ApplicationError

from ..runtime.messages import Ending, Reply
from ..runtime.names import UNKNOWN_ACTIVITY
from .earlier_runs import Recorded
from .payload import unwrap

Outcome = Reply | Literal["begun", "not begun"]
"""A reply where the handler returned; ``begun`` where it may have been entered."""

_NOT_ENTERED: Final = frozenset({"RESET_FORBIDDEN", "STEP_INPUT_MISMATCH"})
"""Refusals of an earlier run that say nothing of their own: what they rest on is read as well."""

_NO_SUCH_ACTIVITY: Final = "is not registered on this worker"


class RecordReader:
    """Reads records of the activity that it is made in.

    Args:
        client: The worker's client.
        info: The activity's own info.
    """

    def __init__(self, client: Client, info: activity.Info) -> None:
        self._converter: DataConverter = client.data_converter.with_context(
            ActivitySerializationContext(
                namespace=info.namespace,
                workflow_id=info.workflow_id,
                workflow_type=info.workflow_type,
                activity_type=info.activity_type,
                activity_id=info.activity_id,
                activity_task_queue=info.task_queue,
                is_local=False,
            )
        )

    async def arguments(self, record: Recorded) -> list[object]:
        """The raw input and the request context, as far as they were given."""
        return await self._decode(record.scheduled.input.payloads)

    async def outcome(self, record: Recorded) -> Outcome:
        """What became of the step, in doubt ``begun``.

        Raises:
            Exception: Whatever the user's codec or converter raises.
        """
        event = record.closed
        if event is None:
            return "begun"
        # With more attempts than one, the last may be all that history tells of.
        once = record.scheduled.retry_policy.maximum_attempts == 1
        match event.event_type:
            case EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
                result = event.activity_task_completed_event_attributes.result
                return _of_result(await self._decode(result.payloads))
            case EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED:
                return await self._of_failure(
                    event.activity_task_failed_event_attributes.failure, once=once
                )
            case EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
                timed_out = event.activity_task_timed_out_event_attributes
                info = timed_out.failure.timeout_failure_info
                unstarted = info.timeout_type == TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START
                # An operator may have allowed more attempts than were scheduled.
                before = timed_out.failure.HasField("cause")
                once = once and not (before or info.HasField("last_heartbeat_details"))
                return _not_begun(once and unstarted and not timed_out.started_event_id)
            case EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED:
                cancelled = event.activity_task_canceled_event_attributes
                return _not_begun(once and not cancelled.started_event_id)
            case _:
                return "begun"

    async def _of_failure(self, failure: Failure, *, once: bool) -> Outcome:
        copy = Failure()
        copy.CopyFrom(failure)  # decoding writes into it
        error = await self._converter.decode_failure(copy)
        if not isinstance(error, ApplicationError):
            return "begun"
        ending = Ending.from_failure(
            error.type, error.message, error.details[0] if error.details else None
        )
        if ending is None:
            unknown = error.type == UNKNOWN_ACTIVITY and _NO_SUCH_ACTIVITY in error.message
            return _not_begun(once and unknown)
        return _not_begun(ending.effect == "none" or ending.info.code in _NOT_ENTERED)

    async def _decode(self, payloads: Sequence[Payload]) -> list[object]:
        values: list[object] = await self._converter.decode(payloads, [RawValue] * len(payloads))
        return [unwrap(value) for value in values]


def _of_result(values: list[object]) -> Outcome:
    data = values[0] if values else None
    try:
        reply = Reply.from_json(data if isinstance(data, bytes) else b"")
    except ValueError:
        return "begun"
    return reply if reply.asked is None else "not begun"


def _not_begun(proven: bool) -> Outcome:
    return "not begun" if proven else "begun"
