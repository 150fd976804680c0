"""Asks a capability's `reconcile`: one attempt of it, the same code under every driver."""

import asyncio
import inspect
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

from .actor import ANONYMOUS
from .admission import validate_input
from .app import App
from .attempt import as_returned, log_cause
from .call import Call
from .capability import Capability
from .context import Context
from .error import CapabilityError
from .names import Effect, Verdict
from .raised import is_passed_on, translate
from .reconcile import DidNotHappen, Happened, Reconcile, Unknown
from .request import Request
from .thread import in_thread
from .trail import Facts, Trail

_EFFECTS: Final[dict[Verdict, Effect]] = {
    "happened": "done",
    "did_not_happen": "none",
    "unknown": "possible",
}


@dataclass(frozen=True, slots=True)
class Found:
    """What was found out.

    Args:
        verdict: The answer.
        output: The validated and redacted output, where it happened.
        json: The same as JSON.
    """

    verdict: Verdict
    output: object = field(default=None, repr=False)
    json: bytes = field(default=b"null", repr=False)


async def ask_reconcile(app: App, call: Call) -> Found:
    """Runs one attempt of the function.

    Nobody is asked whether it may run: it was declared with the write that was admitted, and tells
    the requester nothing that the write itself would not have told.

    Args:
        app: The application.
        call: The execution, as its attempts were called.

    Returns:
        The answer. An output that does not fit its model, or is too large to be carried, is
        ``unknown``: it would not have been an answer of the handler either.

    Raises:
        CapabilityError: The function raised, was late, or answered something else.
        asyncio.CancelledError: The attempt was cancelled.
    """
    capability = app.governance.registry.get(call.capability_id)
    if capability is None or capability.reconcile is None:
        raise CapabilityError("CAPABILITY_NOT_FOUND", audit_reason="no reconcile")
    reconcile = capability.reconcile
    request = _request(call, capability)
    bound = asyncio.timeout(reconcile.timeout.total_seconds())
    task = asyncio.current_task()
    before = 0 if task is None else task.cancelling()
    try:
        async with bound:
            answer = await _asked(app, request, reconcile)
    except BaseException as raised:  # the function is the application's own, and may raise anything
        if is_passed_on(raised, task, before):
            raise
        error = CapabilityError("TIMEOUT") if bound.expired() else translate(raised)
        raise _told(call, error) from None
    if bound.expired():  # it caught the cancellation and answered after all: too late
        raise CapabilityError("TIMEOUT")
    match answer:
        case DidNotHappen():
            return Found("did_not_happen")
        case Unknown():
            return Found("unknown")
        case Happened():
            found = cast("Happened[object]", answer)
            try:
                result = as_returned(call, request, found.output, "done")
            except CapabilityError as error:
                log_cause(call, error)
                return Found("unknown")
            return Found("happened", result.output, result.json)
        case _:
            wrong = TypeError(f"reconcile answered {type(answer).__name__}")
            raise _told(call, CapabilityError("INTERNAL_ERROR", cause=wrong))


async def record_reconciled(
    app: App, call: Call, found: Found, effect: Effect, *, error: CapabilityError | None = None
) -> None:
    """Records what was found out, beside the end that it settles.

    Args:
        app: Whose sinks.
        call: The last attempt of the write.
        found: The answer.
        effect: What is known of the world now.
        error: Why the last attempt to ask had no answer.
    """
    trail = Trail(app, call)
    trail.capability = app.governance.registry.get(call.capability_id)
    facts = Facts(verdict=found.verdict, effect=effect, attempts=call.attempt)
    if error is not None:
        facts["error_code"] = error.code
    await trail.emit("capability.reconciled", **facts)


def effect_of(verdict: Verdict) -> Effect:
    """What an answer says of the world."""
    return _EFFECTS[verdict]


# Of any input and output, here and below.
def _request(call: Call, capability: Capability[Any, Any]) -> Request[Any, Any]:
    return Request(
        capability=capability,
        input=validate_input(capability, call.raw),
        input_hash="",
        actor=call.actor or ANONYMOUS,
        surface=call.surface,
        execution_id=call.execution_id,
        attempt=call.attempt,
        repeat_of=call.repeat_of,
        correlation_id=call.correlation_id,
        workflow=call.workflow,
    )


async def _asked(app: App, request: Request[Any, Any], reconcile: Reconcile) -> object:
    deadline = datetime.now(UTC) + timedelta(seconds=reconcile.timeout.total_seconds())
    async with app.context(request) as made:
        context = Context(made, request, deadline)
        arguments = (request.input, context) if reconcile.takes_context else (request.input,)
        if not inspect.iscoroutinefunction(reconcile.function):
            return await in_thread(reconcile.function, arguments)
        answer: object = await reconcile.function(*arguments)
        return answer


def _told(call: Call, error: CapabilityError) -> CapabilityError:
    """The error, once the log has the kind and place of its cause."""
    if error.cause is not None and error.reason is None:
        log_cause(call, error)
    return error
