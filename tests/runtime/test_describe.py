"""Discovery: what a requester is shown, and what is kept from it (G9, DESIGN section 4)."""

import asyncio
import time
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest

from temperance.runtime.actor import ANONYMOUS
from temperance.runtime.capability import Approval, Capability
from temperance.runtime.decision import Decision, allow, deny, hide, require_approval
from temperance.runtime.describe import Discovery, describe
from temperance.runtime.error import CapabilityError
from temperance.runtime.governance import Governance
from temperance.runtime.policy import Policy
from temperance.runtime.request import Request
from tests.runtime.models import Aliased
from tests.runtime.orders import ALICE, make

AnyRequest = Request[Any, Any]

REFUND = make("orders.refund", tags=frozenset({"orders", "money"}), side_effect="write")
LOOK_UP = make("orders.look_up", tags=frozenset({"orders"}))
SEND = make("mail.send", tags=frozenset({"mail"}), approval=Approval())
NIGHTLY = make("jobs.nightly", expose=frozenset({"workflow"}))
ALL = [REFUND, LOOK_UP, SEND, NIGHTLY]


def govern(
    *policies: Policy, of: Iterable[Capability[Any, Any]] = ALL, **bounds: Any
) -> Governance:
    return Governance(of, policies, **bounds)


async def listing(governance: Governance, **scope: Any) -> Discovery:
    return await describe(governance, surface="agent", actor=ALICE, **scope)


def ids(discovery: Discovery) -> list[str]:
    return [tool.id for tool in discovery.tools]


async def test_what_is_exposed_on_the_surface_is_listed_in_the_order_of_the_registry() -> None:
    assert ids(await listing(govern())) == ["orders.refund", "orders.look_up", "mail.send"]


async def test_a_surface_that_nothing_is_exposed_on_has_an_empty_listing() -> None:
    discovery = await describe(govern(), surface="mcp", actor=ANONYMOUS)

    assert discovery.tools == ()
    assert (discovery.listed, discovery.withheld) == (0, 0)


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ({"tags": ["money"]}, ["orders.refund"]),
        ({"tags": ["money", "mail"]}, ["orders.refund", "mail.send"]),
        ({"tags": "mail"}, ["mail.send"]),
        ({"ids": ["mail.send", "orders.look_up"]}, ["orders.look_up", "mail.send"]),
        ({"ids": "mail.send"}, ["mail.send"]),
        ({"tags": ["orders"], "ids": ["orders.look_up", "mail.send"]}, ["orders.look_up"]),
        ({"tags": []}, []),
        ({"ids": []}, []),
        ({"tags": ["nothing"]}, []),
    ],
)
async def test_tags_and_ids_narrow_the_listing(scope: dict[str, Any], expected: list[str]) -> None:
    assert ids(await listing(govern(), **scope)) == expected


async def test_g9_an_id_that_is_unknown_unexposed_or_hidden_is_simply_not_listed() -> None:
    def rule(request: AnyRequest) -> Decision:
        return hide() if request.capability.id == "orders.refund" else allow()

    governance = govern(Policy(rule, "discovery"))
    bare = await listing(governance, ids=["mail.send"])

    for missing in ("orders.nothing", "jobs.nightly", "orders.refund"):
        assert (await listing(governance, ids=["mail.send", missing])).tools == bare.tools


@pytest.mark.parametrize("answer", [hide(), deny("NO", "No.")])
async def test_what_a_discovery_policy_hides_or_denies_is_left_out_and_counted(
    answer: Decision,
) -> None:
    def rule(request: AnyRequest) -> Decision:
        return answer if request.capability.side_effect == "write" else allow()

    discovery = await listing(govern(Policy(rule, "discovery")))

    assert ids(discovery) == ["orders.look_up", "mail.send"]
    assert (discovery.listed, discovery.withheld) == (2, 1)
    assert "withheld" not in repr(discovery)


async def test_a_discovery_policy_that_demands_an_approval_lists_the_capability() -> None:
    def rule(_: AnyRequest) -> Decision:
        return require_approval("odd")

    assert len((await listing(govern(Policy(rule, "discovery")))).tools) == 3


async def test_policies_of_other_phases_have_no_say() -> None:
    def rule(_: AnyRequest) -> Decision:
        return hide()

    governance = govern(Policy(rule), Policy(rule, "execution"))

    assert len((await listing(governance)).tools) == 3


async def test_the_policies_of_a_capability_rule_it_alone() -> None:
    def rule(_: AnyRequest) -> Decision:
        return hide()

    shy = make("orders.shy", policies=(Policy(rule, "discovery"),))

    assert ids(await listing(govern(of=[shy, SEND]))) == ["mail.send"]


async def test_g8_a_discovery_policy_that_raises_or_takes_too_long_leaves_the_capability_out() -> (
    None
):
    async def rule(request: AnyRequest) -> Decision:
        if request.capability.id == "orders.refund":
            raise RuntimeError
        if request.capability.id == "orders.look_up":
            await asyncio.sleep(60)
        return allow()

    governance = govern(Policy(rule, "discovery"), policy_timeout=timedelta(milliseconds=1))
    discovery = await listing(governance)

    assert ids(discovery) == ["mail.send"]
    assert discovery.withheld == 2


async def test_a_discovery_policy_sees_who_asks_where_and_no_input() -> None:
    seen: list[AnyRequest] = []

    def rule(request: AnyRequest) -> Decision:
        seen.append(request)
        return allow()

    await listing(govern(Policy(rule, "discovery"), of=[SEND]))

    assert [(r.capability, r.actor, r.surface) for r in seen] == [(SEND, ALICE, "agent")]
    assert [(r.input, r.input_hash, r.execution_id) for r in seen] == [(None, "", "discovery")]


async def test_policies_are_asked_about_so_many_capabilities_at_a_time_and_no_more() -> None:
    running = most = 0

    async def rule(_: AnyRequest) -> Decision:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return allow()

    many = [make(f"many.n{number}") for number in range(20)]
    governance = govern(Policy(rule, "discovery"), of=many, discovery_concurrency=3)

    assert len((await listing(governance)).tools) == 20
    assert most == 3


async def over_budget(governance: Governance) -> CapabilityError:
    with pytest.raises(CapabilityError) as raised:
        await listing(governance)
    return raised.value


async def test_a_listing_over_its_budget_fails_loudly_and_lists_nothing() -> None:
    async def slow(_: AnyRequest) -> Decision:
        await asyncio.sleep(60)
        return allow()

    error = await over_budget(
        govern(Policy(slow, "discovery"), discovery_budget=timedelta(milliseconds=5))
    )

    assert error.code == "POLICY_FAILED"
    assert error.audit_reason == "discovery exceeded its budget"


async def test_policies_that_cannot_be_interrupted_are_held_to_the_budget_too() -> None:
    asked = 0

    def slow(_: AnyRequest) -> Decision:
        nonlocal asked
        asked += 1
        time.sleep(0.01)
        return allow()

    budget = timedelta(milliseconds=5)
    error = await over_budget(govern(Policy(slow, "discovery"), discovery_budget=budget))

    assert error.code == "POLICY_FAILED"
    assert asked == 1

    await over_budget(govern(Policy(slow, "discovery"), of=[SEND], discovery_budget=budget))


async def test_the_cancellation_of_a_listing_is_not_mistaken_for_its_budget() -> None:
    async def slow(_: AnyRequest) -> Decision:
        await asyncio.sleep(60)
        return allow()

    task = asyncio.create_task(listing(govern(Policy(slow, "discovery"))))
    await asyncio.sleep(0.001)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_descriptor_says_what_a_model_needs_to_know_and_nothing_of_the_handler() -> None:
    tool = (await listing(govern(), ids=["orders.refund"])).tools[0]

    assert tool.model_dump(exclude={"input_schema", "output_schema"}) == {
        "id": "orders.refund",
        "tool_name": "orders_refund",
        "description": "Refund an order.",
        "side_effect": "write",
        "risk": "low",
        "idempotent": False,
        "reconciles": False,
        "requires_approval": False,
        "tags": ("money", "orders"),
        "timeout_seconds": 30.0,
        "placement": "remote",
    }
    assert tool.input_schema["required"] == ["order_id"]
    assert tool.output_schema["type"] == "object"


async def test_a_descriptor_tells_whether_the_metadata_demands_an_approval() -> None:
    optional = make("orders.optional", approval=Approval(required=False))
    tools = (await listing(govern(of=[SEND, optional]))).tools

    assert [tool.requires_approval for tool in tools] == [True, False]


async def test_the_input_schema_speaks_of_aliases_as_callers_write_them() -> None:
    def handler(input: Aliased) -> Aliased:
        return input

    tool = (await listing(govern(of=[make(handler=handler)]))).tools[0]

    assert "orderId" in str(tool.input_schema)


async def test_what_a_caller_does_to_a_descriptor_stays_with_the_caller() -> None:
    governance = govern(of=[SEND])
    (await listing(governance)).tools[0].input_schema.clear()

    assert (await listing(governance)).tools[0].input_schema
