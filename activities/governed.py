"""The activity of a capability: one execution, one attempt at a time (G1, G2, DESIGN section 6).

The whole pipeline runs inside this one activity. It trusts nothing about whoever scheduled it: not
the retry policy, not the input, not the request context.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from temporalio import activity
from temporalio.common import RawValue

from ..runtime.actor import ANONYMOUS, Actor
from ..runtime.app import App
from ..runtime.attempt import run_attempt
from ..runtime.call import Asked, Broke, Call, Interruption, Outcome, Returned
from ..runtime.capability import Capability
from ..runtime.error import CapabilityError
from ..runtime.messages import Ask, Carry, Ending, Reply
from ..runtime.names import Surface
from ..runtime.request import WorkflowRef
from ..runtime.series import Series
from .attempt_log import bind_attempt, unbind_attempt
from .consult import Forbidden, Recalled, consult
from .earlier import earlier_attempts
from .failure import failure_of, interrupted_at_keyboard, overtaken
from .grant import authorized, grant_of
from .heartbeat import Heartbeat, hand_over
from .identity import Identity, Origins, identify
from .lease import Lease
from .local import (
    Unheard,
    interruption,
    largest_output,
    refuse_while_stopping,
    stopped,
    told_before,
    told_in,
)
from .payload import NULL, unwrap, wrap
from .series import series_of

GovernedActivity = Callable[..., Awaitable[RawValue]]

_TELLING = timedelta(seconds=1)


def governed_activity(
    app: App, capability: Capability[Any, Any], origins: Origins
) -> GovernedActivity:
    """Makes the activity function of a capability.

    Args:
        app: The application that the worker serves.
        capability: The capability; its id is the activity type.
        origins: The worker's reader of original run ids.

    Returns:
        An activity to be registered on a worker.
    """

    # Two parameters, as workflows and clients give them: the SDK looks at the annotations only
    # where the numbers agree, and would decode the arguments else.
    @activity.defn(name=capability.id)
    async def execute(raw: RawValue = NULL, context: RawValue = NULL) -> RawValue:
        return await _execute(app, capability, raw, context, origins)

    return execute


# A capability of any input and output.
async def _execute(
    app: App, capability: Capability[Any, Any], given: RawValue, context: RawValue, origins: Origins
) -> RawValue:
    info = activity.info()
    raw, context_data = unwrap(given), unwrap(context)
    ask, actor, surface = _read(context_data)
    hold: Lease | Unheard = Unheard()
    told = told_in(context) if info.is_local else None
    if info.is_local:
        refuse_while_stopping()
        carry = told_before(info, told)
    else:
        carry = Carry.from_details(info.heartbeat_details[0]) if info.heartbeat_details else Carry()
        hold = Lease(info, activity.client())
        if await hold.arrived_late(carry):
            raise overtaken()
        if info.attempt > 1:
            carry = await earlier_attempts(info, activity.client())
    # A workflow that has it run locally keeps count itself.
    own = told is not None
    grant = grant_of(info, ask)
    claimed = await series_of(info, ask, capability, raw)
    series = claimed if isinstance(claimed, Series) else None
    step, run = (None, None) if series is None else (series.step, series.run_id)
    identity = await identify(info, ask, origins, step, request_run=run)
    identity = authorized(identity, ask, grant)
    beat = Heartbeat(carry, hold) if isinstance(hold, Lease) else hold
    try:
        verdict = await consult(capability, raw, context_data, identity, origins)
        if isinstance(verdict, Recalled):
            return wrap(verdict.reply.to_json())
        call = Call(
            capability_id=capability.id,
            raw=raw,
            actor=actor,
            surface=surface,
            execution_id=identity.execution_id,
            attempt=_number(info, carry, series),
            earlier_errors=carry.errors if series is None else (*series.errors, *carry.errors),
            earlier_effect=carry.effect if verdict is None else verdict.effect,
            entered_before=carry.entered,
            attempts_allowed=None if own else _allowed(info),
            available=_available(info, hold.spent),
            grant=grant,
            repeat_of=identity.repeat_of,
            correlation_id=None if ask is None else ask.correlation_id,
            workflow=WorkflowRef(
                workflow_id=info.workflow_id or info.activity_id,
                run_id=info.workflow_run_id or info.activity_run_id or "",
                activity_id=info.activity_id,
            ),
            output_limit=largest_output(app.payload_limit) if own else app.payload_limit,
            interrupted=_interrupted,
            interruption=interruption if info.is_local else _interruption,
            entered=beat.enter,
            lost=beat.lost,
            forbidden=_forbidden(claimed, verdict),
            rerun=identity.rerun,
            earlier_series=0 if series is None else series.attempts,
        )
        bound = bind_attempt(call)
        try:
            outcome = await run_attempt(app, call)
        except KeyboardInterrupt:
            # The SDK takes it for a failure, and would write its text and stack into history.
            raise interrupted_at_keyboard() from None
        finally:
            unbind_attempt(bound)
    finally:
        beat.stop()
    if info.is_local and isinstance(outcome, Broke):
        outcome = stopped(outcome)
    reply = _answer(call, outcome, identity, None if info.is_local else carry)
    if isinstance(reply, Reply):
        return wrap(reply.to_json())
    # Raised here, outside of any except block: nothing chains itself to it (G10).
    raise reply


def _number(info: activity.Info, carry: Carry, series: Series | None) -> int:
    """Of this attempt, counted over all series."""
    number = 1 + len(carry.errors) if info.is_local else info.attempt
    return number if series is None else series.attempts + number


def _forbidden(
    claimed: Series | CapabilityError | None, verdict: Forbidden | None
) -> CapabilityError | None:
    """Why the handler must not be entered, if there is a reason."""
    if isinstance(claimed, CapabilityError):
        return claimed
    return None if verdict is None else verdict.error


def _read(context: object) -> tuple[Ask | None, Actor | None, Surface]:
    """The request context; foreign code sends none and is nobody in particular."""
    if context is None or context == b"null":
        return None, ANONYMOUS, "workflow"
    try:
        ask = Ask.from_json(context if isinstance(context, bytes) else b"")
    except ValueError:
        return None, None, "workflow"
    return ask, ask.actor, ask.surface


def _allowed(info: activity.Info) -> int | None:
    """How many attempts the scheduled policy has; in Temporal a maximum of 0 has no limit."""
    if info.retry_policy is None:
        return None
    return info.retry_policy.maximum_attempts or None


def _available(info: activity.Info, spent: timedelta) -> timedelta | None:
    """What the server gives the attempt, less what was spent and what it takes to tell its end."""
    given = info.start_to_close_timeout
    return given - spent - min(given / 10, _TELLING) if given else None


def _interrupted() -> bool:
    """Asked from threads too, some of which may not have the activity's context."""
    return activity.in_activity() and activity.is_cancelled()


def _interruption() -> Interruption:
    details = activity.cancellation_details()
    if details is None or details.cancel_requested:
        return "cancelled"
    if details.worker_shutdown:
        return "shutdown"
    if details.paused or details.reset:
        return "paused"
    return "lost"


def _answer(
    call: Call, outcome: Outcome, identity: Identity, carry: Carry | None
) -> Reply | Exception:
    """What is told; ``carry`` is handed over to the next attempt where heartbeats do that."""
    execution_id = None if identity.told else identity.execution_id
    repeat_of = None if identity.told else identity.repeat_of
    match outcome:
        case Returned():
            return Reply(
                output=outcome.json,
                attempts=call.attempt,
                errors=call.earlier_errors,
                execution_id=execution_id,
                repeat_of=repeat_of,
                effect=outcome.effect,
            )
        case Asked():
            return Reply(
                asked=outcome,
                attempts=call.attempt,
                errors=call.earlier_errors,
                # The approval's workflow id is made of it. Derived anew by a replay, which has
                # neither the namespace nor always the workflow id, it would be another.
                execution_id=call.execution_id,
                repeat_of=repeat_of,
            )
        case Broke():
            ending = Ending(
                info=outcome.info,
                effect=outcome.effect,
                attempts=call.attempt,
                errors=call.earlier_errors,
                execution_id=execution_id,
                repeat_of=repeat_of,
                cancelled=outcome.interruption == "cancelled",
            )
            failure = failure_of(outcome, ending)
            if outcome.retries and carry is not None:
                code = failure.type or ending.info.code
                hand_over(Carry((*carry.errors, code), outcome.effect, carry.entered))
            return failure
