"""Asks what became of a request without a workflow, by a standalone activity of its own."""

from temporalio.api.common.v1 import Payload
from temporalio.client import ActivityFailureError, Client
from temporalio.common import ActivityIDConflictPolicy, ActivityIDReusePolicy, RawValue

from temperance.runtime.envelope import ExecutionResult, Failed
from temperance.runtime.messages import Ask
from temperance.runtime.names import RECONCILE_SUFFIX
from temperance.runtime.reconcile import Reconcile, settle
from temperance.runtime.series import Series
from temperance.workflows.options import derive_reconcile_options, reconcile_summary_of
from temperance.workflows.reading import Asked, read_settled

_JSON = {"encoding": b"json/plain"}


async def settled_by_client(
    client: Client,
    task_queue: str,
    asked: Asked,
    reconcile: Reconcile,
    envelope: Failed,
    *,
    data: bytes,
    ask: Ask,
    series: Series,
) -> ExecutionResult[object]:
    """Asks the capability's `reconcile`, and gives the envelope that its answer comes to.

    Args:
        client: A connected client.
        task_queue: Where the request was sent.
        asked: The request.
        reconcile: What its capability declares.
        envelope: How it ended.
        data: Its raw input as bytes of JSON.
        ask: The request context.
        series: Which activity is asked about, with its run id.

    Returns:
        The envelope. Sent twice, the same request is asked about twice: later more may be known.

    Raises:
        temporalio.service.RPCError: The server cannot be reached, or refuses the call.
    """
    about = Ask(
        actor=ask.actor,
        surface=ask.surface,
        correlation_id=ask.correlation_id,
        series=series,
    )
    handle = await client.start_activity(
        asked.capability.id + RECONCILE_SUFFIX,
        args=[_raw(data), _raw(about.to_json())],
        id=series.reconcile_id,
        task_queue=task_queue,
        result_type=RawValue,
        id_reuse_policy=ActivityIDReusePolicy.ALLOW_DUPLICATE,
        id_conflict_policy=ActivityIDConflictPolicy.USE_EXISTING,
        summary=reconcile_summary_of(asked.capability, ask.actor),
        **derive_reconcile_options(reconcile),
    )
    try:
        value = await handle.result()
    except ActivityFailureError:
        return settle(envelope, "unknown")
    return read_settled(asked, envelope, value)


def _raw(data: bytes) -> RawValue:
    return RawValue(Payload(metadata=_JSON, data=data))
