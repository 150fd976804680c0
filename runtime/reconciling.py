"""Asks a capability's `reconcile`: one attempt of it, the same code under every driver.

It is bounded, stopped and concealed exactly as a handler is (G7, G10), by the same code.
"""

import asyncio
import dataclasses
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any, Final, cast

from .actor import ANONYMOUS
from .admission import validate_input
from .app import App
from .attempt import as_returned, log_cause
from .call import Call
from .canonical import hash_bytes
from .capability import Capability
from .context import Context
from .error import CapabilityError
from .handling import Handling
from .names import Effect, Verdict
from .reconcile import DidNotHappen, Happened, Unknown
from .request import Request
from .trail import Facts, Trail
from .watch import Watch

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
    request = _request(call, capability)
    question = _Question(app, call, _as_handled(request), Watch(call))
    await question.run()
    if question.interruption is not None:
        raise asyncio.CancelledError
    if question.error is not None:
        raise _told(call, question.error)
    answer = question.output
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


class _Question(Handling):
    """One run of the function. No middleware is wrapped around it: it is no execution."""

    __slots__ = ()

    def _proceed(self, made: object, deadline: float) -> Awaitable[object]:
        self._ctx = Context(made, self._request, deadline, self._told_to_stop)
        return self._enter()


# Of any input and output, here and below.
def _request(call: Call, capability: Capability[Any, Any]) -> Request[Any, Any]:
    value = validate_input(capability, call.raw)
    try:
        input_hash = hash_bytes(capability.input_schema.canonical(value))
    except Exception as error:  # noqa: BLE001 - a serializer of the application's own
        raise CapabilityError("INPUT_INVALID", cause=error) from None
    return Request(
        capability=capability,
        input=value,
        input_hash=input_hash,
        actor=call.actor or ANONYMOUS,
        surface=call.surface,
        execution_id=call.execution_id,
        attempt=call.attempt,
        repeat_of=call.repeat_of,
        correlation_id=call.correlation_id,
        workflow=call.workflow,
    )


def _as_handled(request: Request[Any, Any]) -> Request[Any, Any]:
    """The request with the function in the handler's place, and its timeout."""
    capability = request.capability
    reconcile = capability.reconcile
    if reconcile is None:
        return request
    asked = dataclasses.replace(capability, handler=reconcile.function, timeout=reconcile.timeout)
    return dataclasses.replace(request, capability=asked)


def _told(call: Call, error: CapabilityError) -> CapabilityError:
    """The error, once the log has the kind and place of its cause."""
    if error.cause is not None and error.reason is None:
        log_cause(call, error)
    return error
