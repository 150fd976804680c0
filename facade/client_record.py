"""Records the end of a single request that no worker saw."""

from temperance.runtime.app import App
from temperance.runtime.attempt import record_end
from temperance.runtime.call import Call
from temperance.runtime.envelope import Cancelled, Failed
from temperance.runtime.error import CapabilityError
from temperance.runtime.messages import Ask
from temperance.runtime.reconciling import Found, record_reconciled
from temperance.runtime.request import WorkflowRef


async def record_unseen_end(
    app: App,
    envelope: Failed | Cancelled,
    ask: Ask,
    place: WorkflowRef,
    *,
    requested: bool,
    reason: str | None = None,
) -> None:
    """Records an end, in the sinks of the application if it names some.

    Args:
        app: Whose sinks.
        envelope: The end.
        ask: The request context.
        place: The activity.
        requested: Whether no attempt recorded the request either.
        reason: The true reason, where the caller sees another.
    """
    await record_end(
        app,
        _call_of(envelope, ask, place),
        CapabilityError(envelope.code, stage=envelope.error.stage, audit_reason=reason),
        envelope.effect,
        cancelled=isinstance(envelope, Cancelled),
        requested=requested,
    )


async def record_unseen_question(
    app: App, envelope: Failed, ask: Ask, place: WorkflowRef, error: CapabilityError
) -> None:
    """Records that it could not be found out what became of a request.

    Args:
        app: Whose sinks.
        envelope: How the request ended.
        ask: The request context.
        place: The activity that asked.
        error: Why the question has no answer.
    """
    call = _call_of(envelope, ask, place)
    await record_reconciled(app, call, Found("unknown"), envelope.effect, error=error)


def _call_of(envelope: Failed | Cancelled, ask: Ask, place: WorkflowRef) -> Call:
    return Call(
        capability_id=envelope.capability,
        raw=None,
        actor=ask.actor,
        surface=ask.surface,
        execution_id=envelope.execution_id,
        attempt=max(envelope.attempts, 1),
        correlation_id=ask.correlation_id,
        workflow=place,
    )
