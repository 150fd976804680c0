"""Discovery: which capabilities a requester is shown (G9, DESIGN section 4).

Exposure first, then the caller's scope, then the policies of the discovery phase. What is withheld
leaves no trace in the listing; how much was withheld is for the audit alone.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from .actor import Actor
from .capability import Capability
from .descriptor import ToolDescriptor
from .error import CapabilityError
from .governance import Governance
from .names import Surface
from .policy import evaluate
from .request import Request

DISCOVERY_EXECUTION: Final = "discovery"
"""Execution id of the requests that discovery policies see: no execution stands behind them."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """A listing, and what the event ``capabilities.discovered`` says of it.

    Args:
        surface: Through which door it was asked for.
        actor: Who asked.
        tools: What is shown, in the order of the registry. Copies: they are the caller's to change.
        withheld: How many capabilities policies kept back. For the audit, never for the requester.
    """

    surface: Surface
    actor: Actor
    tools: tuple[ToolDescriptor, ...]
    withheld: int = field(repr=False)

    @property
    def listed(self) -> int:
        """How many capabilities are shown."""
        return len(self.tools)


async def describe(
    governance: Governance,
    *,
    surface: Surface,
    actor: Actor,
    tags: Iterable[str] | None = None,
    ids: Iterable[str] | None = None,
) -> Discovery:
    """Lists what a requester may be shown on a surface.

    Args:
        governance: Capabilities and policies.
        surface: Only what is exposed there is considered.
        actor: Who asks.
        tags: Narrows the listing to capabilities with at least one of these.
        ids: Narrows the listing to these. One that is unknown, unexposed or hidden is simply not
            in the listing. Given together with ``tags``, both must hold.

    Returns:
        The listing. A capability is left out when one of its discovery policies denies or hides it,
        and also when one raises or exceeds ``policy_timeout``.

    Raises:
        CapabilityError: POLICY_FAILED, when the policies together exceed ``discovery_budget``. A
            listing cut short would look complete, so nothing is listed.
    """
    scope = _Scope(_words(tags), _words(ids))
    candidates = [
        entry for entry in governance.registry if surface in entry.expose and scope.holds(entry)
    ]
    withheld = await _withheld(governance, candidates, surface, actor)
    shown = [entry for entry in candidates if entry.id not in withheld]
    tools = tuple(governance.registry.descriptor(entry.id).model_copy(deep=True) for entry in shown)
    return Discovery(surface, actor, tools, len(withheld))


@dataclass(frozen=True, slots=True)
class _Scope:
    tags: frozenset[str] | None
    ids: frozenset[str] | None

    def holds(self, entry: Capability[Any, Any]) -> bool:
        return (self.ids is None or entry.id in self.ids) and (
            self.tags is None or not self.tags.isdisjoint(entry.tags)
        )


def _words(given: Iterable[str] | None) -> frozenset[str] | None:
    if given is None:
        return None
    return frozenset((given,)) if isinstance(given, str) else frozenset(given)


async def _withheld(
    governance: Governance,
    candidates: Iterable[Capability[Any, Any]],
    surface: Surface,
    actor: Actor,
) -> set[str]:
    """Asks the policies about each candidate, so many at a time, within the budget."""
    ruled = [entry for entry in candidates if governance.policies_for(entry, "discovery")]
    if not ruled:
        return set()
    withheld: set[str] = set()
    waiting = iter(ruled)
    clock = asyncio.get_running_loop().time
    end = clock() + governance.discovery_budget.total_seconds()

    async def ask() -> None:
        # All askers draw from one iterator. A policy that is not async cannot be interrupted, so
        # the time is also looked at between two of them.
        for entry in waiting:
            if clock() >= end:
                raise _OverBudget
            if await _refused(governance, entry, surface, actor):
                withheld.add(entry.id)

    try:
        async with asyncio.timeout_at(end), asyncio.TaskGroup() as group:
            for _ in range(min(governance.discovery_concurrency, len(ruled))):
                group.create_task(ask())
    except (TimeoutError, BaseExceptionGroup):
        over = True
    else:
        over = clock() >= end
    if over:
        raise CapabilityError("POLICY_FAILED", audit_reason="discovery exceeded its budget")
    return withheld


async def _refused(
    governance: Governance, entry: Capability[Any, Any], surface: Surface, actor: Actor
) -> bool:
    request = Request[Any, Any](
        capability=entry,
        input=None,
        input_hash="",
        actor=actor,
        surface=surface,
        execution_id=DISCOVERY_EXECUTION,
    )
    policies = governance.policies_for(entry, "discovery")
    verdict = await evaluate(policies, request, governance.policy_timeout)
    return verdict.refusal is not None


class _OverBudget(Exception):
    """Raised by one asker to end them all."""
