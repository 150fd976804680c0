"""Approvals on the real server against a small model of them, with whatever deciders may send."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import JsonValue
from pydantic_core import from_json, to_json
from temporalio.client import WorkflowUpdateFailedError
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from temperance import Actor, ApprovalRequired, CapabilityError
from temperance.approvals import Approvals
from temperance.runtime.approval import (
    ApprovalState,
    read_comment,
    read_decision,
    read_person,
    read_withdrawal,
    same_person,
)
from temperance.runtime.error import CODES
from temperance.runtime.event import TERMINAL
from temperance.runtime.names import CANCEL_UPDATE, DECIDE_UPDATE
from tests.fuzz.budget import budget
from tests.fuzz.faults import FAULTS
from tests.fuzz.judging import ADA, Door, bounded
from tests.fuzz.objects import ANYTHING
from tests.fuzz.secret import SECRET, leaks, listening
from tests.fuzz.stage import SINK, STAGE, Play, Theatre, nobody, written
from tests.fuzz.test_foreign import ARGUMENTS
from tests.fuzz.test_messages import DECISIONS
from tests.fuzz.values import PLAIN, TEXTS
from tests.fuzz.workflows import Crafted

BOB = Actor(id="bob")
PEOPLE = st.sampled_from(
    [{"id": "bob"}, {"id": "bob", "kind": "user"}, {"id": "ada"}, {"id": "eve", "kind": "service"}]
)
SOUND = st.fixed_dictionaries(
    {"approved": st.booleans(), "approver": PEOPLE},
    optional={"comment": TEXTS, "source": st.sampled_from(["cli", "web", "api", 7])},
)
WITHDRAWALS = st.fixed_dictionaries({"by": PEOPLE}, optional={"comment": TEXTS})
YES: tuple[str, Any, object] = ("yes", ValueError, None)
RULES = st.just(YES) | st.tuples(st.sampled_from(["yes", "returns", "raises"]), FAULTS, ANYTHING)


@dataclass
class Model:
    """What an approval is to be after what was sent."""

    state: ApprovalState = "pending"

    def takes(self, update: str, sent: Any, allowed: bool) -> bool:
        """Whether an update is to be accepted, and what comes of it."""
        try:
            if update == DECIDE_UPDATE:
                decision = read_decision(sent)
                person, comment = read_person(decision.approver), decision.comment
                verdict: ApprovalState = "approved" if decision.approved else "rejected"
            else:
                withdrawal = read_withdrawal(sent)
                person, comment = read_person(withdrawal.by), withdrawal.comment
                verdict = "cancelled"
            read_comment(comment)
        except CapabilityError:
            return False
        own = same_person(person, ADA)
        if self.state != "pending" or (own if update == DECIDE_UPDATE else not (own or allowed)):
            return False
        if update == DECIDE_UPDATE and not allowed:
            return False
        self.state = verdict
        return True


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just(DECIDE_UPDATE), SOUND | DECISIONS | PLAIN, RULES),
        st.tuples(st.just(CANCEL_UPDATE), WITHDRAWALS | DECISIONS | PLAIN, RULES),
        st.tuples(st.sampled_from([DECIDE_UPDATE, CANCEL_UPDATE]), ARGUMENTS, RULES),
    ),
    min_size=1,
    max_size=5,
)


def rule_of(way: str, make: Callable[[], BaseException], value: object) -> Callable[..., Any]:
    """A rule about approvers that behaves as drawn."""

    def rule(*_: object) -> object:
        if way == "raises":
            raise make()
        return True if way == "yes" else value

    return rule


async def asked(theatre: Theatre, order: str = "") -> str:
    """The id of a new approval, asked for by Ada."""
    envelope = await theatre.asking(ADA).invoke("fuzz.asked", {"order": order or uuid4().hex})
    assert isinstance(envelope, ApprovalRequired), envelope
    assert envelope.approval_id is not None
    return envelope.approval_id


def _as_sent(sent: JsonValue) -> JsonValue:
    """What arrives of it.

    Raises:
        ValueError: It cannot be sent at all.
    """
    arrived: JsonValue = from_json(to_json(sent))
    return arrived


@budget(0.5)
@example([(DECIDE_UPDATE, {"approved": True, "approver": {"id": "ada"}}, YES)])
@example([(DECIDE_UPDATE, {"approved": True, "approver": {"id": "bob"}}, YES)])
@example([(CANCEL_UPDATE, {"by": {"id": "ada"}}, YES)])
@given(STEPS)
async def test_g3_an_approval_takes_one_sound_decision_whatever_else_is_sent(
    theatre: Theatre, steps: list[tuple[str, Any, tuple[str, Any, object]]]
) -> None:
    """Everything else is refused with a code, and what was approved runs once."""
    STAGE.play = play = Play(door=Door())
    model, approvals = Model(), Approvals(theatre.client)
    with listening() as lines:
        order = uuid4().hex
        approval = await bounded(asked(theatre, order))
        handle = theatre.client.get_workflow_handle(approval)
        for update, sent, rule in steps:
            play.may_approve = rule_of(*rule)
            allowed = rule[0] == "yes" or (rule[0] == "returns" and rule[2] is True)
            given_as: Any = sent
            if isinstance(sent, Crafted):
                # What is decoded may be anything: only that nothing breaks is looked at.
                given_as, allowed = sent.value(), False
                play.may_approve = nobody
            else:
                try:
                    given_as = _as_sent(sent)
                except ValueError:
                    continue
            accepted = await bounded(_accepted(handle, update, given_as))
            if isinstance(sent, Crafted) and update == CANCEL_UPDATE and accepted:
                model.state = "cancelled"  # the requester may
                continue
            assert accepted == model.takes(update, given_as, allowed), (sent, model)
        play.may_approve = rule_of("yes", ValueError, None)
        if model.state == "pending":
            record = await bounded(approvals.approve(approval, approver=BOB))
            assert record.state == "approved"
            model.state = "approved"
        envelope = await bounded(approvals.outcome(approval))
        assert (
            await _refusal(approvals, approval)
            in {
                "approved": {"APPROVAL_CONSUMED"},
                "rejected": {"APPROVAL_REJECTED"},
                "cancelled": {"APPROVAL_CANCELLED"},
            }[model.state]
        )
    entered = [input for input in play.door.inputs if getattr(input, "order", "") == order]
    assert len(entered) == (model.state == "approved")
    assert envelope.status == ("completed" if model.state == "approved" else "failed")
    types = SINK.types(envelope.execution_id)
    assert sum(type_ in TERMINAL for type_ in types) == 1, types
    assert leaks([*await written(handle), *lines, *_told(envelope.execution_id)]) == []


async def _accepted(handle: Any, update: str, sent: Any) -> bool:
    try:
        await handle.execute_update(update, sent, id=uuid4().hex)
    except WorkflowUpdateFailedError as error:
        cause = error.cause
        assert isinstance(cause, ApplicationError)
        if not isinstance(sent, RawValue):
            assert cause.type in CODES, cause
        return False
    except RPCError as error:
        if error.status != RPCStatusCode.NOT_FOUND:
            raise
        return False
    return True


async def _refusal(approvals: Approvals, approval: str) -> str:
    """The code of what comes too late."""
    try:
        await approvals.approve(approval, approver=Actor(id="late"))
    except CapabilityError as error:
        return error.code
    return "accepted"


def _told(execution_id: str) -> list[str]:
    return [event.model_dump_json() for event in SINK.events if event.execution_id == execution_id]


@budget(0.5)
@given(
    st.none() | TEXTS | st.builds("approval-{}".format, TEXTS),
    TEXTS | st.none(),
    st.sampled_from(["cli", "web", "api"]),
    st.sampled_from(["approve", "reject", "cancel", "show", "outcome_so_far"]),
)
async def test_g3_what_people_send_through_the_library_is_taken_or_refused_with_a_code(
    theatre: Theatre, id_: str | None, comment: str | None, source: Any, verb: str
) -> None:
    """Ids, comments and doors of any kind; `None` is an approval that exists."""
    STAGE.play = Play()
    approvals = Approvals(theatre.client)
    approval = await bounded(asked(theatre)) if id_ is None else id_
    try:
        if verb in {"show", "outcome_so_far"}:
            await bounded(getattr(approvals, verb)(approval))
        elif verb == "cancel":
            await bounded(approvals.cancel(approval, by=BOB, comment=comment, source=source))
        else:
            decide = getattr(approvals, verb)
            await bounded(decide(approval, approver=BOB, comment=comment, source=source))
    except CapabilityError as error:
        refusal = error
    else:
        assert id_ is None
        return
    assert refusal.code in {"CAPABILITY_NOT_FOUND", "INPUT_INVALID"}
    assert id_ is not None or refusal.code == "INPUT_INVALID"


@pytest.mark.parametrize("error", [SystemExit, GeneratorExit, BaseException])
async def test_g3_a_rule_about_approvers_that_would_end_the_process_refuses(
    theatre: Theatre, error: type[BaseException]
) -> None:
    """It failed the workflow task for ever, its text in history, and nobody could decide."""
    STAGE.play = Play(may_approve=rule_of("raises", lambda: error(SECRET), None))
    approvals = Approvals(theatre.client)
    approval = await bounded(asked(theatre))
    with pytest.raises(CapabilityError) as refused:
        await bounded(approvals.approve(approval, approver=BOB))
    assert refused.value.code == "POLICY_FAILED"
    await approvals.cancel(approval, by=ADA)
    assert leaks(await written(theatre.client.get_workflow_handle(approval))) == []


@pytest.mark.parametrize("id_", ["approval-\ud800", "approval-\0", "approval-" + "a" * 300, ""])
async def test_an_approval_by_a_name_that_none_has_is_not_found(theatre: Theatre, id_: str) -> None:
    """Such a name could not even be sent."""
    with pytest.raises(CapabilityError) as refused:
        await Approvals(theatre.client).show(id_)
    assert refused.value.code == "CAPABILITY_NOT_FOUND"


async def test_a_comment_in_half_a_character_is_refused_and_decides_nothing(
    theatre: Theatre,
) -> None:
    """As a shell may hand it on: it could not be sent."""
    STAGE.play = Play()
    approvals = Approvals(theatre.client)
    approval = await asked(theatre)
    with pytest.raises(CapabilityError) as refused:
        await approvals.approve(approval, approver=BOB, comment="\udc80")
    assert refused.value.code == "INPUT_INVALID"
    assert (await approvals.cancel(approval, by=ADA)).state == "cancelled"
