"""The inbox: good tickets go on, bad lines are reported by line and reason, values stay private."""

import json
from decimal import Decimal

import pytest

from support_desk.premises import bundled_stock, bundled_tickets
from support_desk.tickets import parse_inbox, read_inbox

GOOD: dict[str, object] = {
    "id": "T-1",
    "received": "2025-11-24T08:00:00+01:00",
    "email": "ada@example.com",
    "topic": "refund",
    "order": "A-1",
    "amount": "12.50",
    "subject": "Broken",
    "body": "It is broken.",
}


def line(**changes: object) -> bytes:
    """One line of a file: the good ticket with these fields changed; `...` removes a field."""
    fields = {k: v for k, v in {**GOOD, **changes}.items() if v is not ...}
    return json.dumps(fields).encode()


def reason(content: bytes) -> str:
    (problem,) = parse_inbox(content).problems
    return str(problem)


def test_the_bundled_file_has_enough_tickets_and_every_kind_of_malformed_line() -> None:
    inbox = read_inbox(bundled_tickets())
    assert len(inbox.tickets) == 37
    assert [p.line for p in inbox.problems] == [6, 11, 16, 21, 27, 33, 37, 41, 46, 47]


def test_every_incident_of_the_bundled_shop_is_met_by_a_ticket() -> None:
    incidents = bundled_stock().incidents
    tickets = read_inbox(bundled_tickets()).tickets
    orders, ids = {t.order for t in tickets}, {t.id for t in tickets}
    assert {*incidents.gateway_gives_no_answer, *incidents.warehouse_fails_first} <= orders
    assert {*incidents.mail_server_gives_no_answer, *incidents.kill_a_worker_during} <= ids


def test_a_good_line_is_a_ticket_with_an_exact_amount() -> None:
    (ticket,) = parse_inbox(line()).tickets
    assert ticket.amount == Decimal("12.50")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'{"id": "T-1", "subject": "cut o', "line 1: Invalid JSON"),
        (b"[1, 2]", "line 1: Input should be an object"),
        (b"\xff\xfe", "line 1: Invalid JSON"),
        (line(email=...), "line 1: email: Field required"),
        (line(email="no address"), "line 1: email: "),
        (line(amount="twelve"), "line 1: amount: Input should be a valid decimal"),
        (line(amount="-1"), "line 1: amount: Input should be greater than 0"),
        (line(amount="NaN"), "line 1: amount: Input should be a finite number"),
        (line(amount="0.001"), "line 1: amount: "),
        (line(order=2031), "line 1: order: Input should be a valid string"),
        (line(order=...), "line 1: this topic needs an order"),
        (line(topic="change_address"), "line 1: this topic needs an address"),
        (line(topic="invoice"), "line 1: topic: "),
        (line(received="2025-11-24T08:00:00"), "line 1: received: "),
        (line(id="  "), "line 1: id: "),
        (line(id="T" * 41), "line 1: id: String should have at most 40 characters"),
        (line(urgent=True), "line 1: urgent: Extra inputs are not permitted"),
    ],
)
def test_a_malformed_line_is_reported_with_its_number_path_and_reason(
    content: bytes, expected: str
) -> None:
    assert reason(content).startswith(expected)


def test_all_problems_of_a_line_are_in_one_reason() -> None:
    assert reason(line(email=..., amount="x")).count(";") == 1


def test_a_problem_never_repeats_a_value() -> None:
    secret = "4111-1111-1111-1111"
    fields = dict.fromkeys(GOOD, secret)
    assert secret not in reason(json.dumps(fields).encode())
    assert secret not in reason(f'{{"id": "{secret}'.encode())


def test_the_name_of_an_unexpected_field_is_made_safe_to_print() -> None:
    shown = reason(line(**{"\x1b[31m" + "x" * 500: 1}))
    assert "\x1b" not in shown
    assert len(shown) < 150


def test_empty_lines_are_left_out_but_counted() -> None:
    inbox = parse_inbox(b"\n" + line() + b"\r\n  \n{}\n")
    assert len(inbox.tickets) == 1
    assert inbox.problems[0].line == 4


def test_of_two_tickets_with_one_id_the_first_counts() -> None:
    inbox = parse_inbox(line(subject="one") + b"\n" + line(subject="two"))
    assert [t.subject for t in inbox.tickets] == ["one"]
    assert str(inbox.problems[0]) == "line 2: id: already used in line 1"


def test_an_empty_file_has_neither_tickets_nor_problems() -> None:
    inbox = parse_inbox(b"")
    assert (inbox.tickets, inbox.problems) == ((), ())
