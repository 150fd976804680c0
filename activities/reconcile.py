"""The activity that asks a capability's `reconcile` what became of a write.

Its own activity, with its own retries: a read that may run as often as it takes. It is given the
execution's own key, which it derives as the write's attempts did.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from temporalio import activity
from temporalio.common import RawValue

from ..runtime.app import App
from ..runtime.call import Call
from ..runtime.capability import Capability
from ..runtime.error import CapabilityError
from ..runtime.messages import Ask, Settlement
from ..runtime.names import RECONCILE_SUFFIX
from ..runtime.reconciling import Found, ask_reconcile, effect_of, record_reconciled
from ..runtime.request import WorkflowRef
from ..runtime.series import Series
from .attempt_log import bind_attempt, unbind_attempt
from .failure import question_failed
from .grant import authorized, grant_of
from .identity import Identity, Origins, identify
from .payload import NULL, unwrap, wrap

ReconcileActivity = Callable[..., Awaitable[RawValue]]


def reconcile_activity(
    app: App, capability: Capability[Any, Any], origins: Origins
) -> ReconcileActivity:
    """Makes the activity that asks about executions of a capability.

    Args:
        app: The application that the worker serves.
        capability: A capability that declares `reconcile`.
        origins: The worker's reader of original run ids.

    Returns:
        An activity: takes what the write's activity took, answers a `Settlement`.
    """

    @activity.defn(name=capability.id + RECONCILE_SUFFIX)
    async def reconcile(raw: RawValue = NULL, context: RawValue = NULL) -> RawValue:
        return await _reconcile(app, capability, raw, context, origins)

    return reconcile


# A capability of any input and output.
async def _reconcile(
    app: App, capability: Capability[Any, Any], given: RawValue, context: RawValue, origins: Origins
) -> RawValue:
    info = activity.info()
    data = unwrap(context)
    ask = _read(data)
    if ask is None or ask.series is None:
        raise question_failed(CapabilityError("INPUT_INVALID"), again=False)
    identity = await _identity(info, ask, ask.series, origins)
    call = Call(
        capability_id=capability.id,
        raw=unwrap(given),
        actor=ask.actor,
        surface=ask.surface,
        execution_id=identity.execution_id,
        attempt=max(ask.series.attempts, 1),
        earlier_errors=ask.series.errors,
        repeat_of=identity.repeat_of,
        correlation_id=ask.correlation_id,
        workflow=WorkflowRef(
            workflow_id=info.workflow_id or info.activity_id,
            run_id=info.workflow_run_id or info.activity_run_id or "",
            activity_id=info.activity_id,
        ),
        output_limit=app.payload_limit,
        rerun=identity.rerun,
    )
    allowed = info.retry_policy.maximum_attempts if info.retry_policy else 0
    last = bool(allowed) and info.attempt >= allowed
    reconcile = capability.reconcile
    bound = bind_attempt(call)
    error: CapabilityError | None = None
    try:
        if identity.origin is None and info.workflow_id is not None:
            # Without the first run there is no key to ask about.
            error, found = CapabilityError("INTERNAL_ERROR"), Found("unknown")
        else:
            found = await ask_reconcile(app, call)
    except CapabilityError as failure:
        error, found = failure, Found("unknown")
    finally:
        unbind_attempt(bound)
    if found.verdict == "unknown" and not last and reconcile and reconcile.asks_again(error):
        raise question_failed(error, again=True)
    await record_reconciled(app, call, found, effect_of(found.verdict), error=error)
    if error is not None:
        raise question_failed(error, again=False)
    execution_id = None if identity.told else identity.execution_id
    return wrap(Settlement(found.verdict, found.json, execution_id).to_json())


def _read(context: object) -> Ask | None:
    try:
        return Ask.from_json(context if isinstance(context, bytes) else b"")
    except ValueError:
        return None


async def _identity(info: activity.Info, ask: Ask, series: Series, origins: Origins) -> Identity:
    # Only where this activity's id, which the server vouches for, is that of the step's question.
    step = series.step if info.activity_id == series.reconcile_id else None
    identity = await identify(info, ask, origins, step, request_run=series.run_id)
    return authorized(identity, ask, grant_of(info, ask))
