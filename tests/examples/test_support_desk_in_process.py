"""The whole desk in one process, without a server and without incidents: agent, rules and shop."""

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import pytest

from support_desk.agent import Call
from support_desk.app import app
from support_desk.conversation import answer
from support_desk.ledger import count, discrepancies, expected_totals
from support_desk.premises import HOME_VARIABLE, Premises, bundled_stock, bundled_tickets
from support_desk.records import TicketRecord
from support_desk.tickets import read_inbox
from support_desk.workflow import DESK
from temperance import ExecutionResult, Runtime

TICKETS = {t.id: t for t in read_inbox(bundled_tickets()).tickets}


@pytest.fixture
def premises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Premises:
    """The premises without incidents, where the capabilities look for them."""
    stock = bundled_stock()
    calm = stock.incidents.model_copy(
        update={"gateway_gives_no_answer": {}, "mail_server_gives_no_answer": {}}
    )
    premises = Premises(tmp_path)
    premises.create(stock.model_copy(update={"incidents": calm}))
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    return premises


async def work(*tickets: str) -> Mapping[str, TicketRecord]:
    runtime = Runtime(app)

    async def ask(call: Call) -> ExecutionResult[object]:
        return await runtime.invoke(call.capability, call.arguments, actor=DESK, surface="agent")

    return {each: await answer(TICKETS[each], ask) for each in tickets}


async def test_all_bundled_tickets_lead_to_the_expected_totals(premises: Premises) -> None:
    records = (await work(*TICKETS)).values()
    books = count(premises, [r.key for r in bundled_stock().earlier_refunds])
    # In process nobody waits for a person: one refund and one new address less.
    less = {"refunds": 13, "charges": 13, "addresses_changed": 0, "letters_without_receipt": 0}
    money = dict.fromkeys(("refunded", "charged"), Decimal("507.15"))
    expected = expected_totals().model_copy(update={**less, **money})
    assert discrepancies(books, records, expected) == ()


@pytest.mark.parametrize(
    ("ticket", "outcome"),
    [
        ("T-1001", "answered"),
        ("T-1002", "refunded"),
        ("T-1008", "refused: NOT_YOUR_ORDER"),
        ("T-1009", "refused: UNKNOWN_ORDER"),
        ("T-1010", "refused: ALREADY_REFUNDED"),
        ("T-1011", "refused: MORE_THAN_IS_LEFT"),
        ("T-1012", "refused: UNKNOWN_CUSTOMER"),
        ("T-1013", "waits for a person"),
        ("T-1014", "waits for a person"),
        ("T-1030", "denied by policy: OVER_THE_CEILING"),
        ("T-1015", "refused: CAPABILITY_NOT_FOUND"),
        ("T-1023", "refused: NOT_YOUR_ORDER"),
    ],
)
@pytest.mark.usefixtures("premises")
async def test_a_ticket_ends_as_the_rules_have_it(ticket: str, outcome: str) -> None:
    assert (await work(ticket))[ticket].outcome == outcome


@pytest.mark.usefixtures("premises")
async def test_the_second_of_two_equal_requests_finds_the_order_refunded() -> None:
    records = await work("T-1002", "T-1007")
    assert records["T-1007"].outcome == "refused: ALREADY_REFUNDED"


@pytest.mark.usefixtures("premises")
async def test_a_refusal_has_no_effect_and_names_the_rule() -> None:
    refund = (await work("T-1030"))["T-1030"].call("orders.refund")
    assert refund is not None
    assert (refund.code, refund.effect, refund.attempts) == ("POLICY_DENIED", "none", 1)


@pytest.mark.usefixtures("premises")
async def test_the_flaky_warehouse_takes_three_attempts_of_one_execution() -> None:
    lookup = (await work("T-1003"))["T-1003"].call("orders.lookup")
    assert lookup is not None
    assert (lookup.status, lookup.attempts) == ("completed", 3)
    assert lookup.errors == ("EXECUTION_FAILED", "EXECUTION_FAILED")
