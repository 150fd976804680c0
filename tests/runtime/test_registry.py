"""The registry: everything that is wrong with the metadata, said at once (DESIGN section 4)."""

from datetime import timedelta
from typing import Any

import pytest

from temperance.runtime.capability import Approval, Capability, capability
from temperance.runtime.decision import allow
from temperance.runtime.error import RegistryError
from temperance.runtime.metadata import LONGEST_ID
from temperance.runtime.names import RISKS, SIDE_EFFECTS, SURFACES
from temperance.runtime.policy import Policy
from temperance.runtime.registry import CapabilityRegistry
from temperance.runtime.retry import Retry
from tests.runtime.orders import Order, Receipt, look_up, make


def problems(*entries: Any) -> list[str]:
    with pytest.raises(RegistryError) as raised:
        CapabilityRegistry(entries)
    return list(raised.value.problems)


def problem(**metadata: Any) -> str:
    """The one problem of a capability in which nothing else is wrong."""
    found = problems(make(**metadata))
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize("side_effect", SIDE_EFFECTS)
@pytest.mark.parametrize("idempotent", [True, False])
def test_every_side_effect_may_be_registered_with_and_without_the_claim_of_idempotence(
    side_effect: str, idempotent: bool
) -> None:
    assert len(CapabilityRegistry([make(side_effect=side_effect, idempotent=idempotent)])) == 1


def test_a_problem_says_which_capability_it_is_and_where_it_was_declared() -> None:
    assert problem(description="") == (
        "orders.refund (tests.look_up): description is empty: say what it does"
    )


def test_every_problem_of_every_capability_is_listed_at_once() -> None:
    found = problems(
        make("orders.refund", description=" ", risk="tiny", timeout=timedelta(0)),
        make("orders.cancel", expose=frozenset(), tags=frozenset({""})),
        look_up,
    )

    assert len(found) == 6
    assert [line.split(" ")[0] for line in found].count("orders.refund") == 3


@pytest.mark.parametrize("description", ["", "  ", "\n", None, 7])
def test_a_description_that_says_nothing_is_refused(description: Any) -> None:
    assert "description is" in problem(description=description)


@pytest.mark.parametrize(
    "id",
    [
        "",
        "orders",
        "Orders.refund",
        "orders.Refund",
        "orders..refund",
        ".orders.refund",
        "orders.refund.",
        "orders.1refund",
        "orders._refund",
        "orders-refund",
        "orders.re fund",
        "orders/refund",
        "orders.refund\n",
        "orders.rückgabe",
        None,
        7,
    ],
)
def test_an_id_that_is_no_dot_path_is_refused(id: Any) -> None:
    assert "such as orders.refund" in problem(id=id)


@pytest.mark.parametrize("id", ["a.b", "orders.refund_v2", "shop.eu.orders.refund", "a1.b_2.c"])
def test_a_dot_path_of_two_or_more_segments_is_an_id(id: str) -> None:
    assert id in CapabilityRegistry([make(id)])


def test_an_overlong_id_is_refused() -> None:
    longest = "a." + "b" * (LONGEST_ID - 2)

    assert longest in CapabilityRegistry([make(longest, tool_name="short")])
    assert f"id has {LONGEST_ID + 1} characters" in problem(id=longest + "b", tool_name="short")


def test_an_id_among_the_librarys_own_names_is_refused() -> None:
    assert "the library's own" in problem(id="temperance.record")


@pytest.mark.parametrize(
    ("expose", "said"),
    [
        (frozenset[str](), "nobody can ask for it"),
        (frozenset({"agents"}), "unknown surface 'agents'"),
        (frozenset({"agent", None}), "unknown surface None"),
        ("agent", "expose is 'agent'"),
        (None, "expose is None"),
    ],
)
def test_an_empty_or_unknown_exposure_is_refused(expose: Any, said: str) -> None:
    assert said in problem(expose=expose)


@pytest.mark.parametrize("surface", SURFACES)
def test_every_surface_may_be_exposed(surface: str) -> None:
    assert len(CapabilityRegistry([make(expose=frozenset({surface}))])) == 1


@pytest.mark.parametrize("value", ["", "Write", "update", None, 1, ["write"]])
def test_an_unknown_side_effect_or_risk_is_refused_with_the_choices(value: Any) -> None:
    assert ", ".join(SIDE_EFFECTS[:-1]) in problem(side_effect=value)
    assert ", ".join(RISKS[:-1]) in problem(risk=value)


@pytest.mark.parametrize("side_effect", ["write", "destructive", "external"])
def test_g2_retry_of_a_write_needs_the_claim_of_idempotence(side_effect: str) -> None:
    retry = Retry(max_retries=1)

    assert "without idempotent=True" in problem(side_effect=side_effect, retry=retry)
    assert CapabilityRegistry([make(side_effect=side_effect, retry=retry, idempotent=True)])


@pytest.mark.parametrize("side_effect", ["none", "read"])
def test_retry_of_what_changes_nothing_needs_no_claim(side_effect: str) -> None:
    assert CapabilityRegistry([make(side_effect=side_effect, retry=Retry(max_retries=1))])


@pytest.mark.parametrize("retry", [3, True, {"max_retries": 3}])
def test_a_retry_of_another_type_is_refused(retry: Any) -> None:
    assert "give Retry(max_retries=...)" in problem(retry=retry)


@pytest.mark.parametrize("idempotent", [None, 1, "yes"])
def test_a_claim_of_idempotence_that_is_not_true_or_false_is_refused(idempotent: Any) -> None:
    assert "idempotent is" in problem(idempotent=idempotent)


@pytest.mark.parametrize("name", ["timeout", "queue_timeout"])
@pytest.mark.parametrize(
    ("value", "said"),
    [
        (timedelta(0), "more than zero"),
        (timedelta(seconds=-1), "more than zero"),
        (timedelta(days=30, microseconds=1), "at most 30 days"),
        (timedelta.max, "at most 30 days"),
        (30, "give a timedelta"),
        ("30s", "give a timedelta"),
    ],
)
def test_a_duration_out_of_bounds_or_of_another_type_is_refused(
    name: str, value: Any, said: str
) -> None:
    assert said in problem(**{name: value})
    assert said in problem(approval=Approval(expires_in=value))


def test_a_timeout_may_not_be_left_open_and_a_queue_timeout_may() -> None:
    assert "timeout is None" in problem(timeout=None)
    assert CapabilityRegistry([make(queue_timeout=None)])


@pytest.mark.parametrize(
    ("approval", "said"),
    [
        (True, "give Approval(...)"),
        (Approval(required="yes"), "approval.required"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        (Approval(type=" "), "approval.type is empty"),
        (Approval(reason=""), "approval.reason is empty"),
    ],
)
def test_an_approval_that_says_nothing_is_refused(approval: Any, said: str) -> None:
    assert said in problem(approval=approval)


@pytest.mark.parametrize("tags", [frozenset({""}), frozenset({" "}), frozenset({7}), ["a"], "a"])
def test_tags_that_are_empty_or_no_words_are_refused(tags: Any) -> None:
    assert "tags" in problem(tags=tags)


@pytest.mark.parametrize("tool_name", ["", "a b", "a.b", "x" * 65, "ü", 7])
def test_a_tool_name_that_providers_do_not_take_is_refused(tool_name: Any) -> None:
    assert "1 to 64 letters" in problem(tool_name=tool_name)


def test_an_id_too_long_for_a_tool_needs_a_tool_name_of_its_own() -> None:
    long = "a." + "b" * 63

    assert "give a tool_name" in problem(id=long)
    assert CapabilityRegistry([make(long, tool_name="b")]).descriptor(long).tool_name == "b"


def test_capabilities_with_a_tool_name_in_common_are_refused_together() -> None:
    found = problems(make("a.b_c"), make("a_b.c"), make("a.b.d"), make("e.f", tool_name="a_b_d"))

    assert [line for line in found if "a.b_c (" in line and "a_b.c (" in line]
    assert [line for line in found if "a.b.d (" in line and "e.f (" in line]
    assert len(found) == 2


def test_an_id_taken_twice_is_refused_and_both_places_are_named() -> None:
    found = problems(make(declared_in="shop.refund"), make(declared_in="billing.refund"))

    assert found == [
        "orders.refund: is the id of 2 capabilities (shop.refund, billing.refund): "
        "rename all but one"
    ]


def test_a_capability_listed_twice_is_refused_with_its_other_problems_said_once() -> None:
    entry = make(risk="tiny")

    assert len(problems(entry, entry)) == 2


def test_what_is_no_capability_is_refused_by_name() -> None:
    found = problems(look_up, "orders.refund", None)

    assert found[0] == "tests.runtime.orders.look_up: is not a capability: forgot @capability?"
    assert len(found) == 3


def test_one_capability_in_place_of_a_list_is_refused() -> None:
    alone: Any = make()
    with pytest.raises(RegistryError, match="is not a capability"):
        CapabilityRegistry(5, [alone])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("policies", "said"),
    [
        ((Policy(lambda _: allow(), "invocatoin"),), "phase 'invocatoin'"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        ((Policy(allow),), "one parameter"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        ((Policy(5),), "one parameter"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        ((5,), "give a Policy"),
    ],
)
def test_a_policy_that_could_never_rule_is_refused(policies: Any, said: str) -> None:
    assert said in problem(policies=policies)


def no_middleware(ctx: object) -> object:
    return ctx


@pytest.mark.parametrize("middleware", [5, no_middleware])
def test_a_middleware_that_could_never_wrap_is_refused(middleware: Any) -> None:
    assert "(ctx, proceed)" in problem(middleware=(middleware,))


def test_lists_of_several_modules_keep_the_order_in_which_they_are_given() -> None:
    registry = CapabilityRegistry([make("b.b"), make("a.a")], [make("c.c")])

    assert [entry.id for entry in registry] == ["b.b", "a.a", "c.c"]
    assert len(registry) == 3


def test_a_capability_is_found_by_its_id_alone() -> None:
    entry = make()
    registry = CapabilityRegistry([entry])

    assert registry.get("orders.refund") is entry
    assert registry.get("orders.Refund") is None
    assert "orders.refund" in registry
    assert entry in registry
    assert make() not in registry
    assert 7 not in registry


def test_an_empty_registry_is_one() -> None:
    assert [*CapabilityRegistry()] == [*CapabilityRegistry([])] == []


def test_a_registry_cannot_be_changed() -> None:
    registry: Any = CapabilityRegistry([make()])

    with pytest.raises(TypeError):
        registry._by_id["x.y"] = make("x.y")
    with pytest.raises(AttributeError):
        registry.more = 1


def test_a_decorated_function_is_registered_with_the_place_where_it_stands() -> None:
    @capability("orders.get", description="Get.", expose="agent", side_effect="read", risk="low")  # type: ignore[call-overload, untyped-decorator]  # pyright: ignore[reportArgumentType]
    def get(input: Order) -> Receipt:
        return Receipt(receipt_id=input.order_id)

    entry: Capability[Order, Receipt] = get
    registry = CapabilityRegistry([entry])

    assert registry.descriptor("orders.get").tool_name == "orders_get"
    assert entry.expose == {"agent"}
    assert entry.declared_in.startswith("tests.runtime.test_registry.")
