"""Stages 2 to 8 of an attempt: may this request run at all (G8, G9).

Every failure closes: nothing in here enters a handler, and what goes wrong ends the attempt.
"""

from dataclasses import is_dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from .actor import ANONYMOUS, Actor
from .app import App
from .call import Asked, Call
from .canonical import canonical_json, hash_bytes, json_of
from .capability import Capability
from .error import CapabilityError
from .gate import ask, check_grant, demand_of, join
from .policy import ApprovalDemand, Policy, evaluate
from .request import Request
from .schema import problems_of
from .trail import Trail

# Capabilities of any input and output pass through here.
AnyRequest = Request[Any, Any]
Policies = tuple[Policy, ...]


async def admit(app: App, call: Call, trail: Trail) -> AnyRequest | Asked:
    """Resolves, checks exposure, validates, asks the policies and the approval gate.

    Args:
        app: The application.
        call: The attempt.
        trail: Learns the capability and the input's hash as they become known.

    Returns:
        The admissible request, or that a person must approve it first.

    Raises:
        CapabilityError: The request is refused, and why.
    """
    capability = app.governance.registry.get(call.capability_id)
    if capability is None:
        raise CapabilityError("CAPABILITY_NOT_FOUND", audit_reason="unknown")
    trail.capability = capability
    if call.surface not in capability.expose:
        raise CapabilityError("CAPABILITY_NOT_FOUND", audit_reason="unexposed")
    rules = app.governance.rules_of(capability)
    if rules["discovery"]:
        await _refuse_unlisted(app, call, capability, rules["discovery"])
    value = validate_input(capability, call.raw)
    trail.input_hash = _hash(capability, value)
    if call.actor is None:
        raise CapabilityError("UNAUTHENTICATED")
    request = _request(call, capability, value, trail.input_hash, call.actor)
    demand, later = await _ask_policies(app, request, rules["invocation"], rules["execution"])
    if call.grant is not None:
        check_grant(app, call.grant, request, demand)
        check_grant(app, call.grant, request, later)
        return request
    # Also where a person must be asked already: nobody is asked for what would be refused
    # afterwards, and who must approve is known as a whole.
    demand = join(demand, later)
    return request if demand is None else ask(demand, request, call.output_limit)


async def _refuse_unlisted(
    app: App, call: Call, capability: Capability[Any, Any], policies: Policies
) -> None:
    """What discovery does not list to this requester does not exist for it either.

    This comes before the input is looked at: otherwise an invalid input would tell a hidden
    capability from an unknown one (G9).
    """
    request = _request(call, capability, None, "", call.actor or ANONYMOUS)
    verdict = await evaluate(policies, request, app.governance.policy_timeout)
    if verdict.refusal is not None:
        raise CapabilityError(
            "CAPABILITY_NOT_FOUND",
            audit_reason=verdict.refusal.audit_reason,
            cause=verdict.refusal.cause,
        )


def _request(
    call: Call, capability: Capability[Any, Any], value: object, input_hash: str, actor: Actor
) -> AnyRequest:
    return Request(
        capability=capability,
        input=value,
        input_hash=input_hash,
        actor=actor,
        surface=call.surface,
        execution_id=call.execution_id,
        attempt=call.attempt,
        repeat_of=call.repeat_of,
        correlation_id=call.correlation_id,
        workflow=call.workflow,
    )


def validate_input(capability: Capability[Any, Any], raw: object) -> object:
    """Stage 4: the value that every later stage sees.

    Args:
        capability: What is asked for.
        raw: ``bytes`` are JSON, anything else is a Python value.

    Raises:
        CapabilityError: INPUT_INVALID.
    """
    schema = capability.input_schema
    try:
        if isinstance(raw, bytes):
            return schema.from_json(raw)
        if isinstance(raw, BaseModel) or is_dataclass(raw):
            # An instance may have been changed or built without validation: the JSON is judged.
            return schema.from_json(schema.to_json(raw) if schema.knows(raw) else json_of(raw))
        # A Python value is judged as the JSON that it is on its way to a worker: in unions, and in
        # what is strict, pydantic takes the two differently. So no door takes what another refuses,
        # and nothing that the handler changes is the caller's own.
        return schema.from_json(canonical_json(raw))
    except ValidationError as error:
        problems = problems_of(error)
    except Exception as error:  # noqa: BLE001 - a validator or serializer of the application's own
        raise CapabilityError("INPUT_INVALID", cause=error) from None
    raise CapabilityError("INPUT_INVALID", details=problems)


def _hash(capability: Capability[Any, Any], value: object) -> str:
    try:
        return hash_bytes(capability.input_schema.canonical(value))
    except Exception as error:  # noqa: BLE001 - a serializer of the application's own
        raise CapabilityError(
            "INPUT_INVALID",
            details=[{"path": "", "type": "canonical", "message": "The input has no JSON form"}],
            cause=error,
        ) from None


async def _ask_policies(
    app: App, request: AnyRequest, invocation: Policies, execution: Policies
) -> tuple[ApprovalDemand | None, ApprovalDemand | None]:
    """What the capability itself and its invocation policies demand, and its execution policies."""
    if not invocation and not execution:
        return demand_of(request.capability, None), None
    trace = request.capability.input_schema.trace(request.input)
    demand = demand_of(request.capability, await _evaluated(app, request, invocation))
    later = await _evaluated(app, request, execution)
    _refuse_changed(request, trace)
    return demand, later


async def _evaluated(app: App, request: AnyRequest, policies: Policies) -> ApprovalDemand | None:
    if not policies:
        return None
    verdict = await evaluate(policies, request, app.governance.policy_timeout)
    if verdict.refusal is not None:
        raise verdict.refusal
    return verdict.demand


def _refuse_changed(request: AnyRequest, trace: bytes | None) -> None:
    """What the policies were asked about is what the handler gets, and what the hash says.

    A model that is not frozen, and a list in one that is, can be changed in place.
    """
    schema = request.capability.input_schema
    if schema.unchanged(request.input, trace):
        return
    try:
        changed = hash_bytes(schema.canonical(request.input)) != request.input_hash
    except Exception as error:  # noqa: BLE001 - what was made of it may not be written at all
        raise CapabilityError("POLICY_FAILED", audit_reason="changed", cause=error) from None
    if changed:
        raise CapabilityError("POLICY_FAILED", audit_reason="changed")
