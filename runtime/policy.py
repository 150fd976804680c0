"""Policies: the application's rules about a request (G8).

All policies of a phase are evaluated, none short-circuits. Precedence: deny, hide,
require_approval, allow. Several demands for approval merge: all reasons, all types, the least
expiry. A policy that raises, takes too long or returns something else denies with POLICY_FAILED
(DESIGN section 4).
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, Literal

from .decision import Allow, Decision, Deny, Hide, RequireApproval
from .error import MOST_MESSAGE, MOST_REASON, CapabilityError, Stage
from .raised import is_passed_on
from .request import Request

_log = logging.getLogger("temperance.policy")

Phase = Literal["discovery", "invocation", "execution"]
PHASES: Final[tuple[Phase, ...]] = ("discovery", "invocation", "execution")


# A policy sees requests of all capabilities, so their input and output may be of any type.
PolicyFunction = Callable[[Request[Any, Any]], Decision | Awaitable[Decision]]


@dataclass(frozen=True, slots=True)
class Policy:
    """A named rule for one phase.

    Args:
        function: ``(request) -> decision``, ``def`` or ``async def``; it cannot change the input.
            A ``def`` runs in the event loop and holds it up: nothing bounds it, so leave whatever
            waits (files, databases, other services) to an ``async def``.
        phase: ``discovery`` (listing; the request's input is ``None``), ``invocation`` or
            ``execution`` (right before the handler, also after an approval).
        name: Name in audit events and tables; the function's unless given.
    """

    function: PolicyFunction = field(repr=False)
    phase: Phase = "invocation"
    name: str = ""

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", _name_of(self.function))


def policy(
    *, phase: Phase = "invocation", name: str | None = None
) -> Callable[[PolicyFunction], Policy]:
    """Makes a function a `Policy` of the given phase."""

    def decorate(function: PolicyFunction) -> Policy:
        return Policy(function, phase, name or "")

    return decorate


def as_policy(entry: Policy | PolicyFunction) -> Policy:
    """A bare function is an invocation policy under its own name."""
    return entry if isinstance(entry, Policy) else Policy(entry)


@dataclass(frozen=True, slots=True)
class ApprovalDemand:
    """What all demands for approval of one request come to.

    Args:
        reasons: All reasons, in order, each once.
        types: All approver types, in order, each once.
        expires_in: The least expiry.
    """

    reasons: tuple[str, ...]
    types: tuple[str, ...]
    expires_in: timedelta


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the policies of a phase come to: at most one of the two is set.

    Args:
        refusal: The error to end the attempt with.
        demand: The merged demand for approval.
    """

    refusal: CapabilityError | None = None
    demand: ApprovalDemand | None = None


CLEAR: Final = Verdict()
_DECISIONS: Final = (Allow, Deny, Hide, RequireApproval)


async def evaluate(
    policies: Sequence[Policy], request: Request[Any, Any], timeout: timedelta
) -> Verdict:
    """Evaluates all policies of a phase, one after the other.

    Args:
        policies: The policies of the phase.
        request: The request; its input is ``None`` in the discovery phase.
        timeout: Bound for each ``async`` policy.

    Returns:
        What they come to.
    """
    denial: CapabilityError | None = None
    failure: CapabilityError | None = None
    hidden: str | None = None
    demands: list[RequireApproval] = []
    task: asyncio.Task[Any] | None = None
    before = 0
    for entry in policies:
        try:
            decision: object = entry.function(request)
            # The usual answer is told first: the others are asked for by isinstance, which costs.
            if type(decision) is not Allow and not isinstance(decision, _DECISIONS):
                if task is None and (task := asyncio.current_task()) is not None:
                    before = task.cancelling()  # it costs: only where a policy is waited for
                decision = await _bounded(decision, timeout)
        except BaseException as error:  # the policy's own code: any fault in it denies
            if is_passed_on(error, task, before):
                raise
            failure = failure or _failed(entry, error)
            continue
        match decision:
            case Allow():
                pass
            case Deny():
                denial = denial or _denied(entry, decision)
            case Hide():
                hidden = hidden or entry.name
            case RequireApproval():
                demands.append(decision)
            case _:
                _log.warning("policy %s answered %s, no decision", entry.name, type(decision))
                failure = failure or _failed(entry, None)
    # A failed policy might have hidden or denied: it closes before any weaker decision counts.
    if denial or failure:
        return Verdict(refusal=denial or failure)
    if hidden is not None:
        return Verdict(
            refusal=CapabilityError("CAPABILITY_NOT_FOUND", audit_reason=f"hidden:{hidden}")
        )
    return Verdict(demand=merge(demands)) if demands else CLEAR


def merge(demands: Sequence[RequireApproval]) -> ApprovalDemand:
    """All reasons, all types, the least expiry; texts that are too long to travel are cut."""
    return ApprovalDemand(
        reasons=tuple(dict.fromkeys(demand.reason[:MOST_MESSAGE] for demand in demands)),
        types=tuple(dict.fromkeys(demand.type[:MOST_REASON] for demand in demands if demand.type)),
        expires_in=min(demand.expires_in for demand in demands),
    )


async def _bounded(pending: object, timeout: timedelta) -> object:
    if not inspect.isawaitable(pending):
        return pending
    async with asyncio.timeout(timeout.total_seconds()) as bound:
        decision: object = await pending
    if bound.expired():  # it caught the cancellation and answered after all: too late
        raise TimeoutError
    return decision


def _denied(entry: Policy, decision: Deny) -> CapabilityError:
    return CapabilityError(
        "POLICY_DENIED",
        decision.message,
        reason=decision.code,
        audit_reason=f"denied:{entry.name}",
        stage=_stage(entry),
    )


def _failed(entry: Policy, cause: BaseException | None) -> CapabilityError:
    return CapabilityError(
        "POLICY_FAILED",
        cause=cause,
        audit_reason=f"failed:{entry.name}",
        stage=_stage(entry),
    )


def _stage(entry: Policy) -> Stage:
    return "execution_policy" if entry.phase == "execution" else "policy"


def _name_of(function: object) -> str:
    return getattr(function, "__name__", None) or type(function).__name__
