"""Brings an execution to its end, and finds out what became of it where that is unknown.

Without `reconcile` this is `execute`, and nothing more is scheduled.
"""

import dataclasses
from typing import Any

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ActivityError

from ..runtime.capability import Capability
from ..runtime.envelope import ExecutionResult, Failed
from ..runtime.names import RECONCILE_PATCH, RECONCILE_SUFFIX, RUN_AGAIN_PATCH
from ..runtime.reconcile import UNDECLARED, Reconcile, is_open, may_run_again, settle
from ..runtime.series import Series
from .absent import Absent, Sent
from .cancellation import Cancellations
from .execution import Execution, execute, raw_value
from .local_watch import is_doubtful
from .options import derive_reconcile_options, reconcile_summary_of
from .reading import Answer, Asked, read_settled
from .reading_failure import is_recorded
from .run import current_run
from .unseen import record_unknown, record_unseen


async def execute_and_settle(
    asked: Asked, sent: Sent, cancellations: Cancellations, series: Series | None = None
) -> Execution:
    """As `execute`, and asks the capability's `reconcile` where the effect is ``possible``.

    Args:
        asked: The request.
        sent: What is sent for it.
        cancellations: Remember a cancellation that arrives meanwhile: nothing is asked any more.
        series: Where the execution is run again: which time it is.

    Returns:
        How it ended. What became of it is in its envelope's ``reconciled``.
    """
    declared = asked.capability.reconcile
    reconcile = declared or UNDECLARED
    while True:
        ask, step = sent.ask, sent.step
        if series is not None:
            asked = asked._replace(series=series)
            ask, step = dataclasses.replace(ask, series=series), series.again_id
        execution = await execute(
            asked, sent.data, ask, step, cancellations, task_queue=sent.task_queue
        )
        if series is not None:
            # That it was requested is on record since the first.
            answer = dataclasses.replace(execution.answer, requested=True)
            execution = execution._replace(answer=answer)
        envelope = execution.answer.envelope
        if (
            not isinstance(envelope, Failed)
            or not is_open(asked.capability.side_effect, envelope)
            or cancellations.arrived
            or not _does(RECONCILE_PATCH, asked.capability, declared=declared is not None)
        ):
            return execution
        if not execution.answer.seen:
            recorded = await record_unseen(sent.ask, sent.step, execution.answer, cancellations)
            envelope = recorded if isinstance(recorded, Failed) else envelope
        number = 1 if series is None else series.number
        ended = Series(
            sent.step, number, envelope.attempts, (*envelope.errors, envelope.error.code)
        )
        settled = await _settled(asked, sent, envelope, reconcile, ended, cancellations)
        if settled.reconciled != "did_not_happen" or cancellations.arrived:
            return Execution(Answer(settled))
        series = dataclasses.replace(ended, number=number + 1)
        again = _does(RUN_AGAIN_PATCH, asked.capability, declared=reconcile.run_again)
        if not again or not may_run_again(envelope.error, number):
            current_run().absent[settled.execution_id] = Absent(asked, sent, series)
            return Execution(Answer(settled))


# Of a capability of any input and output.
def _does(patch: str, capability: Capability[Any, Any], *, declared: bool) -> bool:
    """Whether the run does what the metadata declares; decided once for each run.

    It decides which commands the run gives, and history must give the same again: a run that was
    under way before the declaration was made keeps to what it did (decision 0018).
    """
    run = current_run()
    patch += capability.id
    known = run.asking.get(patch)
    if known is None:
        # Whatever is declared by now, a replay goes by the marker.
        wanted = workflow.unsafe.is_replaying() or (declared and not is_doubtful(run))
        known = run.asking[patch] = wanted and workflow.patched(patch)
    return known


async def _settled(  # noqa: PLR0917 - the parts of one request
    asked: Asked,
    sent: Sent,
    envelope: Failed,
    reconcile: Reconcile[Any, Any],
    ended: Series,
    cancellations: Cancellations,
) -> ExecutionResult[object]:
    """Asks what became of it, and gives the envelope that the answer comes to."""
    run = current_run()
    await run.outbox.room(len(sent.data))
    await run.outbox.under_way.acquire()
    try:
        handle = workflow.start_activity(
            asked.capability.id + RECONCILE_SUFFIX,
            args=[
                raw_value(sent.data),
                raw_value(dataclasses.replace(sent.ask, series=ended).to_json()),
            ],
            activity_id=ended.reconcile_id,
            task_queue=sent.task_queue,
            result_type=RawValue,
            cancellation_type=workflow.ActivityCancellationType.TRY_CANCEL,
            summary=reconcile_summary_of(asked.capability, sent.ask.actor),
            **derive_reconcile_options(reconcile, run.app),
        )
        await cancellations.until_done(handle, stop=True)
    finally:
        run.outbox.under_way.release()
    if handle.cancelled():
        return settle(envelope, "unknown")
    failure = handle.exception()
    if isinstance(failure, ActivityError):
        if not is_recorded(failure.cause):
            await record_unknown(sent, envelope, failure.cause, cancellations)
        return settle(envelope, "unknown")
    if failure is not None:
        raise failure
    return read_settled(asked, envelope, handle.result())
