"""Stage 7: what is demanded of an approval, and what it must still cover when it is used (G3)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, model_serializer

from temperance.runtime.actor import Actor
from temperance.runtime.app import App
from temperance.runtime.approval import Grant
from temperance.runtime.call import Asked, Broke, Outcome, Returned
from temperance.runtime.capability import Approval, Redact
from temperance.runtime.decision import Decision, allow, deny, require_approval
from temperance.runtime.event import Event
from temperance.runtime.policy import Policy
from temperance.runtime.request import Request
from tests.runtime.attempts import (
    RETRIED,
    Slip,
    app_of,
    attempt,
    broken,
    giving,
    handles,
    never,
    succeeds,
)
from tests.runtime.orders import Order

BOB = Actor(id="bob")
MANAGER = Approval(type="manager", reason="It is money.", expires_in=timedelta(minutes=5))


async def asked(app: App, **fields: Any) -> Asked:
    """An attempt that must end with a demand for approval."""
    outcome = await attempt(app, **fields)
    assert isinstance(outcome, Asked), outcome
    return outcome


def grant(demand: Asked, **fields: Any) -> Grant:
    """An approval of what was demanded, but for what is given."""
    sound: dict[str, Any] = {
        "execution_id": "e-1",
        "input_hash": demand.input_hash,
        "expires_at": demand.expires_at,
        "approver": BOB,
        "types": demand.types,
    }
    return Grant(**(sound | fields))


def code_of(outcome: Outcome) -> str:
    """The code of an attempt that broke before its handler."""
    assert isinstance(outcome, Broke), outcome
    assert outcome.effect == "none"
    return outcome.error.code


async def test_g3_what_is_demanded_by_metadata_and_by_policies_of_both_phases_is_one_demand() -> (
    None
):
    """All reasons, all types, the least expiry; the handler is not entered."""
    app = app_of(
        never,
        approval=MANAGER,
        policies=[
            giving(require_approval("Over the limit.", type="finance")),
            giving(require_approval("Late.", expires_in=timedelta(minutes=1)), "execution"),
            giving(require_approval("It is money.", type="manager"), "execution"),
        ],
    )
    before = datetime.now(UTC)
    demand = await asked(app)

    assert demand.reasons == ("It is money.", "Over the limit.", "Late.")
    assert demand.types == ("manager", "finance")
    assert timedelta(minutes=1) <= demand.expires_at - before < timedelta(minutes=2)


async def test_g3_metadata_without_a_reason_says_one_and_may_leave_it_to_the_policies() -> None:
    """`Approval()` always asks, `Approval(required=False)` never does by itself."""
    assert (await asked(app_of(never, approval=Approval()))).reasons == (
        "orders.refund needs an approval each time",
    )
    left = app_of(succeeds, approval=Approval(required=False))
    assert isinstance(await attempt(left), Returned)
    demanding = app_of(
        never,
        approval=Approval(required=False, reason="Never said."),
        policies=[giving(require_approval("By policy."))],
    )
    assert (await asked(demanding)).reasons == ("By policy.",)


async def test_g8_nobody_is_asked_for_what_a_policy_of_either_phase_denies() -> None:
    """A denial is the answer, before and after an approval."""
    for phase in ("invocation", "execution"):
        app = app_of(never, approval=MANAGER, policies=[giving(deny("NO", "No."), phase)])
        assert code_of(await attempt(app)) == "POLICY_DENIED"


async def test_g3_what_was_approved_runs_and_its_request_is_not_recorded_again() -> None:
    """The attempt that asked has recorded it. This sink drops nothing that it is given twice."""
    delivered: list[str] = []

    class Every:
        def record(self, event: Event) -> None:
            delivered.append(event.type)

    app = app_of(succeeds, approval=MANAGER, sinks=[Every()])
    demand = await asked(app)
    assert isinstance(await attempt(app, grant=grant(demand)), Returned)
    assert delivered == [
        "capability.requested",
        "capability.approval_requested",
        "capability.started",
        "capability.completed",
    ]


async def test_g3_an_approval_of_another_input_or_execution_is_refused() -> None:
    """The hash that was approved is compared with that of the value which would run."""
    app = app_of(never, approval=MANAGER)
    demand = await asked(app)
    for other in (
        await attempt(app, grant=grant(demand, input_hash="0" * 64)),
        await attempt(app, grant=grant(demand, execution_id="e-2")),
        await attempt(app, grant=grant(demand), raw={"order_id": "o-2"}),
        await attempt(app, grant=grant(demand), raw={"order_id": "o-1", "amount": 2}),
    ):
        assert code_of(other) == "APPROVAL_INPUT_MISMATCH"


async def test_g3_an_approval_that_has_expired_is_refused_at_the_first_attempt_only() -> None:
    """It covers the execution that it authorized, further attempts included."""
    past = datetime.now(UTC) - timedelta(microseconds=1)
    app = app_of(never, approval=MANAGER)
    demand = await asked(app)
    assert code_of(await attempt(app, grant=grant(demand, expires_at=past))) == "APPROVAL_EXPIRED"

    again = app_of(succeeds, approval=MANAGER, **RETRIED)
    late = await attempt(again, grant=grant(demand, expires_at=past), attempt=2)
    assert isinstance(late, Returned)


@pytest.mark.parametrize(
    ("approver", "refused"),
    [
        (Actor(id="alice"), True),
        (Actor(id="alice", attributes={"role": "manager"}), True),
        (Actor(id="Alice"), False),
        (Actor(id="alice.", kind="user"), False),
        (Actor(id="alice", kind="service"), False),
        (BOB, False),
    ],
)
async def test_g3_an_approver_who_is_the_requester_is_refused(
    approver: Actor, refused: bool
) -> None:
    """Kind and id, character by character; attributes make no other person."""
    app = app_of(succeeds, approval=MANAGER)
    outcome = await attempt(app, grant=grant(await asked(app), approver=approver))
    if refused:
        assert code_of(outcome) == "APPROVAL_SELF_APPROVAL"
    else:
        assert isinstance(outcome, Returned)


async def test_g3_policies_that_demand_more_than_was_approved_refuse() -> None:
    """Another type is another approver; the same one, or none in particular, is covered."""
    plain = app_of(succeeds, approval=MANAGER)
    demand = await asked(plain)

    async def under(policy: Policy) -> Outcome:
        return await attempt(
            app_of(succeeds, approval=MANAGER, policies=[policy]), grant=grant(demand)
        )

    for phase in ("invocation", "execution"):
        more = await under(giving(require_approval("More.", type="finance"), phase))
        assert code_of(more) == "APPROVAL_REQUIRED"
        assert isinstance(more, Broke)
        assert more.error.audit_reason == "tightened"
        assert code_of(await under(giving(deny("NO", "No."), phase))) == "POLICY_DENIED"
        for covered in (
            giving(require_approval("The same.", type="manager"), phase),
            giving(require_approval("Somebody.")),
            giving(allow(), phase),
        ):
            assert isinstance(await under(covered), Returned)


async def test_g3_what_is_shown_is_made_from_the_value_that_would_run() -> None:
    """Coerced and completed, without what is redacted; the hash binds all of it."""

    class Transfer(BaseModel):
        cents: int
        card: str = "none"
        memo: str = "-"

    async def handler(input: Transfer) -> Slip:
        raise AssertionError(input)

    app = app_of(handler, approval=MANAGER, redact=Redact(approval_input=("card",)))
    first = await asked(app, raw={"card": "4111", "cents": "5"})
    assert first.shown == {"cents": 5, "memo": "-"}
    assert first.input == b'{"cents":5,"card":"4111","memo":"-"}'
    other = await asked(app, raw={"card": "4112", "cents": 5})
    assert other.shown == first.shown
    assert other.input_hash != first.input_hash


async def test_g3_an_input_that_no_approval_can_carry_is_refused_before_anybody_is_asked() -> None:
    """It goes along twice, as it runs and as it is shown; in process nothing is carried."""
    app = app_of(never, approval=MANAGER)
    long = {"order_id": "x" * 600}
    refusal = await broken(app, raw=long, output_limit=1024)
    assert (refusal.error.code, refusal.error.stage) == ("PAYLOAD_TOO_LARGE", "approval")
    assert refusal.effect == "none"
    await asked(app, raw={"order_id": "x"}, output_limit=1024)
    await asked(app, raw=long)


@pytest.mark.parametrize(
    ("failing", "code"), [(1, "INPUT_INVALID"), (2, "APPROVAL_UNSERIALIZABLE_INPUT")]
)
async def test_g3_an_input_that_cannot_be_written_is_bound_to_no_approval(
    failing: int, code: str
) -> None:
    """Whenever its serializer fails, nobody is asked."""
    times: list[None] = []

    class Odd(BaseModel):
        number: int

        @model_serializer
        def write(self) -> dict[str, int]:
            times.append(None)
            if len(times) == failing:
                raise ArithmeticError(self.number)
            return {"number": self.number}

    async def handler(input: Odd) -> Slip:
        raise AssertionError(input)

    refusal = await broken(app_of(handler, approval=MANAGER), raw={"number": 1})
    assert (refusal.error.code, refusal.effect) == (code, "none")


class Mixed(BaseModel):
    """An input with a bit of everything."""

    number: int
    price: float = 1.5
    when: datetime | None = None
    tags: set[str] = set()
    order: Order | None = None


async def take_mixed(input: Mixed) -> Slip:
    raise AssertionError(input)


MIXED = app_of(take_mixed, approval=MANAGER)
NUMBERS = st.integers(min_value=-(2**53), max_value=2**53)


async def hash_of(raw: object) -> str:
    return (await asked(MIXED, raw=raw)).input_hash


@given(number=NUMBERS, tags=st.lists(st.text(max_size=5), max_size=4))
async def test_g3_inputs_that_are_the_same_value_have_the_same_hash(
    number: int, tags: list[str]
) -> None:
    """Key order, defaults given or omitted, "5" for 5, the order of a set."""
    written = {"number": number, "tags": tags, "order": {"order_id": "o", "amount": 1}}
    turned = {
        "order": {"amount": "1", "order_id": "o"},
        "when": None,
        "tags": [*reversed(tags), *tags],
        "price": 1.5,
        "number": str(number),
    }
    assert await hash_of(written) == await hash_of(turned)


@given(one=NUMBERS, other=NUMBERS, tag=st.text(max_size=5))
async def test_g3_any_change_of_a_value_gives_another_hash(one: int, other: int, tag: str) -> None:
    """Equal hashes only where the values are equal."""
    assert (await hash_of({"number": one}) == await hash_of({"number": other})) is (one == other)
    base = await hash_of({"number": one})
    for change in (
        {"price": 1.25},
        {"when": "2026-12-01T00:00:00Z"},
        {"tags": [tag]},
        {"order": {"order_id": tag}},
    ):
        assert await hash_of({"number": one, **change}) != base


def rule(request: Request[Any, Any]) -> Decision:
    """Asks where the amount is over the limit: of the value that would run."""
    return require_approval("Over 100.") if request.input.amount > 100 else allow()


async def test_g3_a_policy_decides_by_the_validated_value_whether_to_ask() -> None:
    """The raw text "200" is a number by then."""
    entered: list[None] = []

    async def note() -> None:
        entered.append(None)

    app = app_of(handles(note), policies=[rule])
    await asked(app, raw={"order_id": "o", "amount": "200"})
    assert entered == []
    assert isinstance(await attempt(app, raw={"order_id": "o", "amount": "100"}), Returned)
    assert entered == [None]
