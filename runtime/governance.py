"""Everything that rules an application's requests, as one frozen value (DESIGN section 4)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Final

from .capability import Capability
from .error import ConfigurationError
from .metadata import problems_of_middleware, problems_of_policies
from .middleware import Middleware
from .policy import PHASES, Phase, Policy, PolicyFunction, as_policy
from .registry import CapabilityRegistry

POLICY_TIMEOUT: Final = timedelta(seconds=5)
DISCOVERY_BUDGET: Final = timedelta(seconds=10)
DISCOVERY_CONCURRENCY: Final = 16
LONGEST_WAIT: Final = timedelta(hours=1)
MOST_CONCURRENCY: Final = 1_000


@dataclass(frozen=True, init=False)
class Governance:
    """The governed surface of an application.

    Args:
        registry: The capabilities; a list of them is made a registry.
        policies: Rules for every capability, before its own; a bare function is an invocation
            policy.
        middleware: Wraps every handler, outside of the capability's own.
        policy_timeout: Bound of one asynchronous policy, up to an hour; 5 seconds unless given.
        discovery_budget: Bound of one listing, up to an hour; 10 seconds unless given.
        discovery_concurrency: How many capabilities a listing asks policies about at a time, 1 to
            1,000; 16 unless given.

    Raises:
        ConfigurationError: Lists every problem, those of the registry included.
    """

    registry: CapabilityRegistry
    policies: tuple[Policy, ...]
    middleware: tuple[Middleware, ...] = field(repr=False)
    policy_timeout: timedelta
    discovery_budget: timedelta
    discovery_concurrency: int
    _rules: Mapping[str, Mapping[Phase, tuple[Policy, ...]]] = field(repr=False, compare=False)

    def __init__(
        self,
        registry: CapabilityRegistry | Iterable[Capability[Any, Any]],
        policies: Iterable[Policy | PolicyFunction] = (),
        middleware: Iterable[Middleware] = (),
        *,
        policy_timeout: timedelta = POLICY_TIMEOUT,
        discovery_budget: timedelta = DISCOVERY_BUDGET,
        discovery_concurrency: int = DISCOVERY_CONCURRENCY,
    ) -> None:
        kept_policies = tuple(as_policy(entry) for entry in policies)
        kept_middleware = tuple(middleware)
        problems = [
            *problems_of_policies(kept_policies),
            *problems_of_middleware(kept_middleware),
            *_problems_of_wait("policy_timeout", policy_timeout),
            *_problems_of_wait("discovery_budget", discovery_budget),
            *_problems_of_concurrency(discovery_concurrency),
        ]
        checked = _checked(registry, problems)
        # The class is frozen, so its own constructor goes round the guard as dataclasses do.
        keep = object.__setattr__
        keep(self, "registry", checked)
        keep(self, "policies", kept_policies)
        keep(self, "middleware", kept_middleware)
        keep(self, "policy_timeout", policy_timeout)
        keep(self, "discovery_budget", discovery_budget)
        keep(self, "discovery_concurrency", discovery_concurrency)
        rules = {
            entry.id: MappingProxyType({phase: self._select(entry, phase) for phase in PHASES})
            for entry in checked
        }
        keep(self, "_rules", MappingProxyType(rules))

    def policies_for(self, capability: Capability[Any, Any], phase: Phase) -> tuple[Policy, ...]:
        """The policies that rule a registered capability in a phase: the common ones first.

        Raises:
            KeyError: The capability is not registered.
        """
        return self._rules[capability.id][phase]

    def rules_of(self, capability: Capability[Any, Any]) -> Mapping[Phase, tuple[Policy, ...]]:
        """The same for all phases at once.

        Raises:
            KeyError: The capability is not registered.
        """
        return self._rules[capability.id]

    def _select(self, capability: Capability[Any, Any], phase: Phase) -> tuple[Policy, ...]:
        every = (*self.policies, *capability.policies)
        return tuple(entry for entry in every if entry.phase == phase)


def _checked(
    registry: CapabilityRegistry | Iterable[Capability[Any, Any]], problems: list[str]
) -> CapabilityRegistry:
    try:
        checked = (
            registry if isinstance(registry, CapabilityRegistry) else CapabilityRegistry(registry)
        )
    except ConfigurationError as error:
        if not problems:
            raise
        raise ConfigurationError([*error.problems, *problems]) from None
    if problems:
        raise ConfigurationError(problems)
    return checked


def _problems_of_wait(what: str, value: object) -> Iterator[str]:
    if not isinstance(value, timedelta):
        yield f"{what} is {value!r}: give a timedelta"
    elif not timedelta(0) < value <= LONGEST_WAIT:
        yield f"{what} is {value}: give more than zero, at most {LONGEST_WAIT}"


def _problems_of_concurrency(value: object) -> Iterator[str]:
    if not isinstance(value, int) or isinstance(value, bool):
        yield f"discovery_concurrency is {value!r}: give a whole number"
    elif not 1 <= value <= MOST_CONCURRENCY:
        yield f"discovery_concurrency is {value}: give 1 to {MOST_CONCURRENCY}"
