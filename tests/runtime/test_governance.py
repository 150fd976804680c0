"""The governed surface as one frozen value."""

from dataclasses import FrozenInstanceError
from datetime import timedelta
from typing import Any

import pytest

from temperance.runtime.decision import Decision, allow
from temperance.runtime.error import ConfigurationError, RegistryError
from temperance.runtime.governance import Governance
from temperance.runtime.middleware import Proceed
from temperance.runtime.policy import PHASES, Phase, Policy
from temperance.runtime.registry import CapabilityRegistry
from tests.runtime.orders import make


def common(_: Any) -> Decision:
    return allow()


def own(_: Any) -> Decision:
    return allow()


async def around(ctx: Any, proceed: Proceed) -> object:
    return await proceed()


def test_a_list_of_capabilities_is_made_a_registry() -> None:
    entry = make()
    registry = CapabilityRegistry([entry])

    assert entry in Governance([entry]).registry
    assert Governance(registry).registry is registry


def test_bare_functions_are_invocation_policies() -> None:
    assert Governance([], [common]).policies == (Policy(common, "invocation", "common"),)


def test_iterators_are_read_once_and_kept() -> None:
    governance = Governance(iter([make()]), iter([common]), iter([around]))

    assert len(governance.registry) == 1
    assert governance.policies == (Policy(common),)
    assert governance.middleware == (around,)


@pytest.mark.parametrize("phase", PHASES)
def test_the_common_policies_of_a_phase_come_before_the_capabilitys_own(phase: Phase) -> None:
    entry = make(policies=(Policy(own, phase),))
    others = [Policy(common, other) for other in PHASES]
    governance = Governance([entry, make("a.b")], others)

    assert governance.policies_for(entry, phase) == (Policy(common, phase), Policy(own, phase))


def test_policies_of_a_capability_are_found_without_being_put_together_again() -> None:
    entry = make(policies=(Policy(own),))
    governance = Governance([entry], [common])

    assert governance.policies_for(entry, "invocation") is governance.policies_for(
        entry, "invocation"
    )


def test_a_capability_that_is_not_registered_has_no_policies_to_be_ruled_by() -> None:
    with pytest.raises(KeyError):
        Governance([]).policies_for(make(), "invocation")


def test_the_bounds_have_defaults() -> None:
    governance = Governance([])

    assert governance.policy_timeout == timedelta(seconds=5)
    assert governance.discovery_budget == timedelta(seconds=10)
    assert governance.discovery_concurrency == 16


@pytest.mark.parametrize("name", ["policy_timeout", "discovery_budget"])
@pytest.mark.parametrize("value", [timedelta(0), timedelta(seconds=-1), timedelta(days=1), 5, None])
def test_a_wait_out_of_bounds_is_refused(name: str, value: Any) -> None:
    bounds: dict[str, Any] = {name: value}
    with pytest.raises(ConfigurationError, match=name):
        Governance([], **bounds)


@pytest.mark.parametrize("value", [0, -1, 1_001, 1.5, True, None])
def test_a_concurrency_out_of_bounds_is_refused(value: Any) -> None:
    with pytest.raises(ConfigurationError, match="discovery_concurrency"):
        Governance([], discovery_concurrency=value)


def test_all_problems_are_listed_at_once_those_of_the_registry_included() -> None:
    odd: Any = "invocatoin"
    no_middleware: Any = 7
    with pytest.raises(ConfigurationError) as raised:
        Governance(
            [make(risk="tiny")],
            [Policy(common, odd)],
            [no_middleware],
            policy_timeout=timedelta(0),
            discovery_concurrency=0,
        )

    assert len(raised.value.problems) == 5


def test_an_unsound_registry_alone_is_a_registry_error() -> None:
    with pytest.raises(RegistryError):
        Governance([make(risk="tiny")])


def test_a_governance_is_a_value_that_cannot_be_changed() -> None:
    registry = CapabilityRegistry([make()])
    governance: Any = Governance(registry, [common])

    assert governance == Governance(registry, [common])
    assert governance != Governance(registry, [own])
    assert hash(governance) == hash(Governance(registry, [common]))
    assert "_rules" not in repr(governance)
    with pytest.raises(FrozenInstanceError):
        governance.policies = ()
