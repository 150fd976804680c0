"""One attempt: the stages of DESIGN section 5, the same code under every driver.

Every attempt runs the stages from the start: it never trusts that an earlier one was admitted.
Every failure becomes a `CapabilityError`, and an attempt that no other follows leaves exactly one
terminal event (G1, G2, G8).
"""

import asyncio
import logging
from typing import Any, Final

from pydantic import ValidationError

from .admission import AnyRequest, admit
from .answer import answer_of
from .app import App
from .call import Asked, Broke, Call, Interruption, Outcome, Returned
from .canonical import can_travel
from .capability import Capability
from .error import CapabilityError, ErrorCode
from .handling import Handling
from .names import Effect, EventType
from .raised import interrupted, is_passed_on
from .redaction import apply
from .retry import allows_retry
from .schema import problems_of
from .trail import Facts, Trail
from .watch import Watch

_log = logging.getLogger("temperance.attempt")

_DENIED: Final[frozenset[ErrorCode]] = frozenset(
    {"CAPABILITY_NOT_FOUND", "UNAUTHENTICATED", "FORBIDDEN", "POLICY_DENIED", "POLICY_FAILED"}
)


async def run_attempt(app: App, call: Call, watch: Watch | None = None) -> Outcome:
    """Runs one attempt of an execution.

    Args:
        app: The application.
        call: The attempt.
        watch: The attempt's own, where the driver looks at it too.

    Returns:
        How it ended. The caller's cancellation is reported, not raised: what it means is the
        driver's to say.
    """
    trail = Trail(app, call)
    watch = watch or Watch(call)
    handling: Handling | None = None
    effect: Effect = call.earlier_effect
    interruption: Interruption | None = None
    try:
        await _announce(call, trail)
        admitted = await admit(app, call, trail)
        if watch.interrupted:
            raise asyncio.CancelledError  # a policy swallowed it
        if isinstance(admitted, Asked):
            return await _conclude(call, trail, admitted, effect)
        _refuse_forbidden(call, admitted.capability)
        await trail.started()
        handling = Handling(app, call, admitted, watch)
        await handling.run()
        if handling.entered:
            effect = "possible"
        if handling.error is None:
            if handling.entered:
                effect = "done"
            result = as_returned(call, admitted, handling.output, effect)
            return await _conclude(call, trail, result, effect)
        error, interruption = handling.error, handling.interruption
    except CapabilityError as refusal:
        error = refusal
        if error.code == "RETRY_FORBIDDEN":
            effect = "possible"
    except BaseException as fault:  # the application's models and policies
        if is_passed_on(fault, watch.task):
            raise
        if isinstance(fault, asyncio.CancelledError) and watch.interrupted:
            interruption = call.interruption()
            error = interrupted(interruption, "controls")
        else:
            error = CapabilityError("INTERNAL_ERROR", cause=fault)
        if handling is not None and handling.entered and effect == "none":
            effect = "possible"
    return await _end(call, trail, error, effect, interruption)


async def _announce(call: Call, trail: Trail) -> None:
    if call.attempt == 1:
        # What was approved was requested before: by the attempt that asked for the approval.
        if call.grant is None:
            await trail.emit("capability.requested")
    else:
        previous = call.earlier_errors[-1] if call.earlier_errors else "UNKNOWN"
        await trail.emit("capability.retried", previous_error=previous)


def _refuse_forbidden(call: Call, capability: Capability[Any, Any]) -> None:
    """The metadata's own limit, whoever scheduled this attempt and with whatever policy (G2).

    And what the driver forbids: a write that an earlier run may have begun (G11).
    """
    maximum = call.earlier_series + capability.plan.maximum_attempts
    if call.attempt > maximum or (call.entered_before and capability.plan.maximum_attempts == 1):
        raise CapabilityError(
            "RETRY_FORBIDDEN", details={"attempt": call.attempt, "maximum": maximum}
        )
    if call.forbidden is not None:
        raise call.forbidden


def as_returned(call: Call, request: AnyRequest, output: object, effect: Effect) -> Returned:
    """Stages 11 and 12. The handler has returned: nothing here may cause another attempt.

    Args:
        call: The attempt.
        request: What was asked for.
        output: What the handler returned.
        effect: What is known of the world.

    Raises:
        CapabilityError: OUTPUT_INVALID, PAYLOAD_TOO_LARGE.
    """
    capability = request.capability
    schema = capability.output_schema
    try:
        data = schema.to_json(output)
        value = schema.read(data)
        if not can_travel(data):
            raise ValueError("it is nested too deeply")
    except ValidationError as error:
        raise _invalid(problems_of(error, schema.traits.names), error) from None
    except Exception as error:  # noqa: BLE001 - the output may be anything, its serializer too
        problem = {
            "path": "",
            "type": "serialization",
            "message": "The output does not fit its model",
        }
        raise _invalid([problem], error) from None
    rule = capability.redact.output
    if rule is not None:
        data = apply(rule, schema, value)
        value = schema.read(data)
    if call.output_limit is not None and len(data) > call.output_limit:
        raise CapabilityError(
            "PAYLOAD_TOO_LARGE",
            f"The output has {len(data)} bytes; at most {call.output_limit} can be carried.",
            stage="output",
            details={"size": len(data), "limit": call.output_limit},
        )
    return Returned(value, data, effect)


def _invalid(problems: list[Any], cause: Exception) -> CapabilityError:
    return CapabilityError("OUTPUT_INVALID", details=problems, cause=cause)


async def _conclude(call: Call, trail: Trail, outcome: Returned | Asked, effect: Effect) -> Outcome:
    """Records an attempt that did what it could, unless the driver has given it up."""
    if call.lost is not None and await _is_lost(call):
        return await _end(call, trail, interrupted("lost", "handler"), effect, "lost")
    type_: EventType = "capability.completed"
    facts = Facts(effect=effect, attempts=call.attempt, duration_ms=trail.duration_ms)
    if isinstance(outcome, Asked):
        type_ = "capability.approval_requested"
        facts["reasons"] = outcome.reasons
    await trail.emit(type_, **facts)
    return outcome


async def _end(
    call: Call,
    trail: Trail,
    error: CapabilityError,
    effect: Effect,
    interruption: Interruption | None,
) -> Broke:
    capability = trail.capability
    number = call.attempt - call.earlier_series
    retries = (
        capability is not None
        and effect != "done"
        and number < capability.plan.maximum_attempts
        and (call.attempts_allowed is None or number < call.attempts_allowed)
        and interruption != "cancelled"
        and (interruption is not None or allows_retry(capability.plan, error))
    )
    if error.cause is not None and error.reason is None:
        log_cause(call, error)
    if not retries and interruption is None and await _is_lost(call):
        interruption = "lost"
    if not retries and interruption != "lost":
        await _emit_end(call, trail, error, effect, cancelled=interruption == "cancelled")
    side_effect = None if capability is None else capability.side_effect
    info = answer_of(error, effect, side_effect)
    return Broke(error, info, effect, retries, interruption)


async def _is_lost(call: Call) -> bool:
    """Whether somebody else has recorded, or will record, how this attempt ended."""
    if call.lost is None:
        return False
    try:
        return await call.lost()
    except asyncio.CancelledError:
        # It comes too late to change how the attempt ended, but it may say that nobody waits.
        return call.interruption() == "lost"


async def record_end(
    app: App,
    call: Call,
    error: CapabilityError,
    effect: Effect,
    *,
    cancelled: bool,
    requested: bool,
) -> None:
    """Records the end of an execution that no attempt could record itself.

    Args:
        app: Whose sinks.
        call: The last attempt, as far as it is known.
        error: How it ended.
        effect: What is known of the world.
        cancelled: Whether the caller's cancellation ended it.
        requested: Whether no attempt recorded the request either.
    """
    trail = Trail(app, call)
    trail.capability = app.governance.registry.get(call.capability_id)
    if requested:
        await trail.emit("capability.requested")
    await _emit_end(call, trail, error, effect, cancelled=cancelled)


async def _emit_end(
    call: Call, trail: Trail, error: CapabilityError, effect: Effect, *, cancelled: bool
) -> None:
    type_: EventType = "capability.failed"
    if cancelled:
        type_ = "capability.cancelled"
    elif error.code in _DENIED:
        type_ = "capability.denied"
    await trail.emit(
        type_,
        effect=effect,
        attempts=call.attempt,
        duration_ms=trail.duration_ms,
        error_code=error.code,
        stage=error.stage,
        reason=error.reason or error.audit_reason,
    )


def log_cause(call: Call, error: CapabilityError) -> None:
    """Names the kind and place of an undeclared exception, never its text (G10).

    Args:
        call: The attempt.
        error: What it reports; its cause is what was raised.
    """
    cause = error.cause
    place = "unknown"
    traceback = None if cause is None else cause.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        # The application's own line, where there is one: not that of a library it called.
        if place == "unknown" or "site-packages" not in file:
            place = f"{file}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    _log.warning(
        "%s ended with %s: %s at %s (execution %s, attempt %d)",
        call.capability_id,
        error.code,
        type(cause).__name__,
        place,
        call.execution_id,
        call.attempt,
    )
