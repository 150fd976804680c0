"""Has a local activity record what no worker saw (DESIGN section 9)."""

import dataclasses
from datetime import timedelta
from typing import Final

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError, FailureError
from temporalio.exceptions import TimeoutError as TemporalTimeoutError

from ..runtime.envelope import Cancelled, ExecutionResult, Failed
from ..runtime.messages import UNSEEN, Ask, Unseen
from ..runtime.names import RECORD_ACTIVITY
from .absent import Sent
from .cancellation import Cancellations
from .reading import Answer

TIMEOUT: Final = timedelta(seconds=10)
ATTEMPTS: Final = 3


async def record_unseen(
    ask: Ask,
    step_id: str,
    answer: Answer,
    cancellations: Cancellations,
    *,
    reason: str | None = None,
) -> ExecutionResult[object]:
    """Records the end of an execution in the audit sinks.

    Args:
        ask: What was, or would have been, sent with the request.
        step_id: The step.
        answer: What the workflow concluded.
        cancellations: Remember a cancellation that arrives meanwhile: it does not stop the record.
        reason: The true reason, where the caller sees another.

    Returns:
        The envelope, with the execution ids as the worker derived them: in a run that a
        workflow-level retry started, workflow code cannot know them. A record that cannot be made
        changes nothing else.
    """
    envelope = answer.envelope
    if not isinstance(envelope, Failed | Cancelled):
        return envelope
    unseen = Unseen(
        capability=envelope.capability,
        ask=ask.to_json().decode(),
        step=step_id,
        code=envelope.error.code,
        stage=envelope.error.stage,
        effect=envelope.effect,
        attempts=envelope.attempts,
        cancelled=isinstance(envelope, Cancelled),
        requested=not answer.requested,
        reason=reason,
    )
    told = await _recorded(unseen, cancellations)
    if told is None:
        return envelope
    execution_id, *repeats = told
    repeat_of = repeats[0] if repeats else None
    return dataclasses.replace(envelope, execution_id=execution_id, repeat_of=repeat_of)


async def record_unknown(
    sent: Sent, envelope: Failed, question: BaseException | None, cancellations: Cancellations
) -> None:
    """Records that it could not be found out what became of a write, where no worker did.

    Args:
        sent: What was sent for the write.
        envelope: How it ended.
        question: Why the question has no answer.
        cancellations: Remember a cancellation that arrives meanwhile: it does not stop the record.
    """
    late = isinstance(question, TemporalTimeoutError)
    unseen = Unseen(
        capability=envelope.capability,
        ask=sent.ask.to_json().decode(),
        step=sent.step,
        code="TIMEOUT" if late else "INTERNAL_ERROR",
        stage="transport",
        effect=envelope.effect,
        attempts=envelope.attempts,
        verdict="unknown",
    )
    await _recorded(unseen, cancellations)


async def _recorded(unseen: Unseen, cancellations: Cancellations) -> list[str] | None:
    """The execution ids as the worker derived them; ``None`` where nothing could be recorded."""
    handle = workflow.start_local_activity(
        RECORD_ACTIVITY,
        UNSEEN.dump_json(unseen, exclude_defaults=True).decode(),
        result_type=list[str],
        start_to_close_timeout=TIMEOUT,
        retry_policy=RetryPolicy(maximum_attempts=ATTEMPTS),
    )
    await cancellations.until_done(handle, stop=False)
    try:
        told: list[str] = handle.result()
    except FailureError as error:
        # What a local activity raises comes without the ActivityError around it.
        kind = error.type if isinstance(error, ApplicationError) else type(error.cause).__name__
        workflow.logger.warning("an outcome could not be recorded: %s", kind)
        return None
    return told
