"""Decisions that do not count: refused, each with its code, and nothing of them is kept (G3)."""

from collections.abc import Callable

import pytest
from pydantic import JsonValue

from temperance import Actor, App, Completed, ConfigurationError, Failed, MemorySink
from temperance.embedded import EmbeddedServer
from temperance.runtime.approval import MAX_COMMENT, ApprovalRecord
from temperance.runtime.names import CANCEL_UPDATE
from tests.guarantees.approvals.capabilities import app_of
from tests.guarantees.approvals.office import ADA, BOB, EVE, Office, raw_refused, refused
from tests.guarantees.runs.books import Books

MISSING = "The approver is missing or malformed: give kind (user, service or automation) and id."
MALFORMED = (
    "The decision is malformed: give approved (true or false), approver, comment and source."
)
BOB_JSON: JsonValue = {"kind": "user", "id": "bob"}


async def test_g3_a_decision_on_what_does_not_exist_is_refused(office: Office) -> None:
    """Before the request exists, an id of another kind, a workflow that is no approval."""
    approvals = office.approvals
    async with office.worker():
        other = await office.start(hold=True)
        for unknown in ("approval-864d2ce2-ff52-5c22-9e4d-f7bb9e68fc9b", "approval-", "", other.id):
            assert await refused(approvals.approve(unknown, approver=BOB)) == "CAPABILITY_NOT_FOUND"
            assert await refused(approvals.reject(unknown, approver=BOB)) == "CAPABILITY_NOT_FOUND"
            assert await refused(approvals.cancel(unknown, by=BOB)) == "CAPABILITY_NOT_FOUND"
            assert await refused(approvals.show(unknown)) == "CAPABILITY_NOT_FOUND"
        await other.terminate()


async def test_g3_what_is_no_decision_by_somebody_is_refused_and_leaves_no_event(
    office: Office,
) -> None:
    """Whatever JSON is sent; and then the approval is as open as before."""
    approve = {"approved": True}
    cases: list[tuple[JsonValue, str]] = [
        (None, MALFORMED),
        (True, MALFORMED),
        ("approve", MALFORMED),
        ([BOB_JSON], MALFORMED),
        ({}, MALFORMED),
        ({"approver": BOB_JSON}, MALFORMED),
        ({"approved": "yes", "approver": BOB_JSON}, MALFORMED),
        ({"approved": 1, "approver": BOB_JSON}, MALFORMED),
        ({**approve}, MISSING),
        ({**approve, "approver": None}, MISSING),
        ({**approve, "approver": "user:bob"}, MISSING),
        ({**approve, "approver": {"kind": "user"}}, MISSING),
        ({**approve, "approver": {"kind": "user", "id": ""}}, MISSING),
        ({**approve, "approver": {"kind": "user", "id": " bob"}}, MISSING),
        ({**approve, "approver": {"kind": "user", "id": "b\u200bob"}}, MISSING),
        ({**approve, "approver": {"kind": "user", "id": "b" * 201}}, MISSING),
        ({**approve, "approver": {"kind": "user", "id": 7}}, MISSING),
        ({**approve, "approver": {"kind": "model", "id": "bob"}}, MISSING),
        ({**approve, "approver": {"kind": "anonymous", "id": "anonymous"}}, MISSING),
        ({**approve, "approver": {"kind": "user", "id": "bob", "role": "manager"}}, MISSING),
    ]
    comments: list[JsonValue] = [7, {"text": "fine"}, "x" * (MAX_COMMENT + 1)]
    async with office.worker():
        approval = await office.request("transfer", "w")
        before = await office.waiting(approval)
        for sent, message in cases:
            answer = await raw_refused(office.client, approval, sent)
            assert answer == ("INPUT_INVALID", message), sent
        for comment in comments:
            sent = {**approve, "approver": BOB_JSON, "comment": comment}
            code, message = await raw_refused(office.client, approval, sent)
            assert (code, message[:12]) == ("INPUT_INVALID", "The comment ")
        withdrawals: list[JsonValue] = [None, {}, {"by": {"kind": "anonymous", "id": "x"}}, "bob"]
        for sent in withdrawals:
            code, _ = await raw_refused(office.client, approval, sent, CANCEL_UPDATE)
            assert code == "INPUT_INVALID"
        assert await office.names(approval) == before
        assert (await office.approvals.show(approval)).state == "pending"
        await office.approvals.approve(approval, approver=BOB, comment="x" * MAX_COMMENT)
        assert isinstance(await office.approvals.outcome(approval), Completed)


async def test_g3_the_requester_is_refused_as_its_own_approver_and_may_withdraw(
    office: Office,
) -> None:
    """Whatever it says beside its kind and id, approving or rejecting."""
    approvals = office.approvals
    async with office.worker():
        approval = await office.request("transfer", "w")
        before = await office.waiting(approval)
        for same in (ADA, Actor(id="ada", kind="user", attributes={"role": "manager"})):
            for say in (approvals.approve, approvals.reject):
                assert await refused(say(approval, approver=same)) == "APPROVAL_SELF_APPROVAL"
        assert await office.names(approval) == before
        withdrawn = await approvals.cancel(approval, by=ADA, comment="No longer needed.")
        outcome = await approvals.outcome(approval)

    assert withdrawn.decision is not None
    assert (withdrawn.state, withdrawn.decision.by) == ("cancelled", ADA)
    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.effect) == ("APPROVAL_CANCELLED", "none")
    assert office.books.entries("w") == []


@pytest.mark.parametrize(
    "other",
    [
        Actor(id="ada", kind="service"),
        Actor(id="ada", kind="automation"),
        Actor(id="Ada"),
        Actor(id="ada."),
        Actor(id="\u0430da"),
        Actor(id="ad\u00e0"),
    ],
    ids=["service", "automation", "case", "dot", "cyrillic", "accent"],
)
async def test_g3_who_is_spelled_otherwise_than_the_requester_is_somebody_else(
    office: Office, other: Actor
) -> None:
    """Kind and id are compared exactly, character by character: whoever authenticates spells."""
    async with office.worker():
        approval = await office.request("transfer", "w")
        assert (await office.approvals.approve(approval, approver=other)).state == "approved"
        assert isinstance(await office.approvals.outcome(approval), Completed)


async def test_g3_a_requester_approves_its_own_request_only_where_the_application_says_why(
    embedded: EmbeddedServer, task_queue: str, books: Books, office: Office
) -> None:
    """Without a reason, an application that allows it cannot be put together."""
    for reason in (None, "", "  "):
        with pytest.raises(ConfigurationError, match="say why in self_approval_reason"):
            App(
                office.app.governance,
                reject_self_approval=False,
                self_approval_reason=reason,
            )
    lonely = app_of(books, self_approval="There is one person here.")
    alone = await Office.opened(embedded, lonely, task_queue, books, MemorySink())
    async with alone.worker():
        approval = await alone.request("transfer", "w")
        await alone.approvals.approve(approval, approver=ADA)
        assert isinstance(await alone.approvals.outcome(approval), Completed)
    assert len(books.entries("w")) == 1


@pytest.mark.parametrize(
    ("verdict", "code"),
    [
        ("approve", "APPROVAL_CONSUMED"),
        ("reject", "APPROVAL_REJECTED"),
        ("cancel", "APPROVAL_CANCELLED"),
    ],
)
async def test_g3_what_comes_after_a_decision_is_told_which_it_was(
    office: Office, verdict: str, code: str
) -> None:
    """By the same code while the approval is open and once it is closed; nothing more is run."""
    approvals = office.approvals
    async with office.worker():
        approval = await office.request("transfer", "w", "wait")
        if verdict == "cancel":
            await approvals.cancel(approval, by=BOB)
        else:
            await getattr(approvals, verdict)(approval, approver=BOB)
        if verdict == "approve":
            await office.until_entered("w")
            before = await office.names(approval)
            assert await refused(approvals.reject(approval, approver=EVE)) == code
            assert await refused(approvals.cancel(approval, by=EVE)) == code
            assert await office.names(approval) == before
            office.books.open_gate("w")
        await approvals.outcome(approval)
        before = await office.names(approval)
        assert await refused(approvals.approve(approval, approver=EVE)) == code
        assert await refused(approvals.reject(approval, approver=EVE)) == code
        assert await refused(approvals.cancel(approval, by=EVE)) == code
        assert await office.names(approval) == before
    assert len(office.books.entries("w")) == (verdict == "approve")


async def test_g3_a_decision_after_the_expiry_is_refused_as_such(office: Office) -> None:
    """While the approval says so to its requester, and for ever after."""
    approvals = office.approvals
    async with office.worker():
        approval = await office.request("hasty", "w")
        outcome = await approvals.outcome(approval)
        assert await refused(approvals.approve(approval, approver=BOB)) == "APPROVAL_EXPIRED"
        assert (await approvals.show(approval)).state == "expired"

    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.effect) == ("APPROVAL_EXPIRED", "none")
    assert office.trail(outcome.execution_id) == [
        "requested",
        "approval_requested",
        "approval_expired",
    ]
    assert office.books.entries("w") == []


def never(approver: Actor, record: ApprovalRecord) -> bool:
    return False


def broken(approver: Actor, record: ApprovalRecord) -> bool:
    raise LookupError("secret")


def truthy(approver: Actor, record: ApprovalRecord) -> bool:
    return "yes"  # type: ignore[return-value] # pyright: ignore[reportReturnType] - as an application may


def only_managers(approver: Actor, record: ApprovalRecord) -> bool:
    return record.types == ("manager",) and approver.attributes.get("role") == "manager"


@pytest.mark.parametrize(
    ("rule", "code"),
    [(never, "FORBIDDEN"), (truthy, "FORBIDDEN"), (broken, "POLICY_FAILED")],
)
async def test_g3_who_the_application_does_not_let_decide_is_refused(
    embedded: EmbeddedServer,
    task_queue: str,
    books: Books,
    rule: Callable[[Actor, ApprovalRecord], bool],
    code: str,
) -> None:
    """Its rule must say True; what fails in it closes, and is not told. Nor may they withdraw."""
    app = app_of(books, may_approve=rule)
    office = await Office.opened(embedded, app, task_queue, books, MemorySink())
    async with office.worker():
        approval = await office.request("transfer", "w")
        before = await office.waiting(approval)
        assert await refused(office.approvals.approve(approval, approver=BOB)) == code
        assert await refused(office.approvals.reject(approval, approver=BOB)) == code
        assert await refused(office.approvals.cancel(approval, by=BOB)) == code
        _, message = await raw_refused(
            office.client, approval, {"approved": True, "approver": BOB_JSON}
        )
        assert "secret" not in message
        assert await office.names(approval) == before
        assert (await office.approvals.cancel(approval, by=ADA)).state == "cancelled"
    assert books.entries("w") == []


async def test_g3_the_applications_rule_sees_the_approver_and_the_record(
    embedded: EmbeddedServer, task_queue: str, books: Books
) -> None:
    """So that a type such as `manager` means something."""
    app = app_of(books, may_approve=only_managers)
    office = await Office.opened(embedded, app, task_queue, books, MemorySink())
    async with office.worker():
        approval = await office.request("transfer", "w")
        assert await refused(office.approvals.approve(approval, approver=BOB)) == "FORBIDDEN"
        manager = Actor(id="mia", attributes={"role": "manager"})
        await office.approvals.approve(approval, approver=manager)
        assert isinstance(await office.approvals.outcome(approval), Completed)


def test_g3_a_rule_that_cannot_run_in_workflow_code_is_refused_at_the_start(
    office: Office,
) -> None:
    """An `async` rule would be true of everybody."""

    async def later(approver: Actor, record: ApprovalRecord) -> bool:
        return True

    with pytest.raises(ConfigurationError, match="may_approve"):
        app_of(office.books, may_approve=later)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] - as an application may
