"""The scripted agent: what to ask for next, given a ticket and what has been seen so far.

It stands where a language model would stand: it proposes a call by name with raw JSON, sees the
result, and proposes the next one. Unlike a model it is a pure function, so the demo says the same
thing every time, and it may run inside a workflow.

It is as gullible as a model can be: a ticket that tells it to call something makes it call that.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from pydantic import JsonValue

from .models import Template
from .money import from_cents
from .tickets import Ticket

Status = Literal["completed", "approval_required", "failed", "cancelled"]
"""The kinds of envelope that an agent can see."""

_SUGGESTED_CALL = re.compile(r"\bcall ([a-z_]+(?:\.[a-z_]+)+)")

_TEMPLATE_OF_TOPIC: Mapping[str, Template] = {
    "refund": "refunded",
    "order_status": "order_status",
    "change_address": "address_changed",
    "other": "general",
}

_TEMPLATE_OF_REFUSAL: Mapping[str, Template] = {
    "UNKNOWN_CUSTOMER": "customer_unknown",
    "UNKNOWN_ORDER": "order_unknown",
    "NOT_YOUR_ORDER": "order_unknown",
    "ALREADY_REFUNDED": "refund_refused",
    "MORE_THAN_IS_LEFT": "refund_refused",
}

_OUTCOME_OF_ACTION: Mapping[str, str] = {
    "orders.refund": "refunded",
    "orders.change_address": "address changed",
}

_OUTCOME_OF_DECISION: Mapping[str, str] = {
    "APPROVAL_REJECTED": "rejected by a person",
    "APPROVAL_EXPIRED": "nobody decided in time",
    "APPROVAL_CANCELLED": "withdrawn",
}


@dataclass(frozen=True, slots=True)
class Call:
    """A proposal to run a capability."""

    capability: str
    arguments: dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Seen:
    """What came back: the output where the call completed, otherwise why it did not.

    `reason` is the desk's own word for a refusal where it has one, else the error's code.
    """

    capability: str
    status: Status
    output: Mapping[str, JsonValue] | None = None
    code: str | None = None
    reason: str | None = None

    @property
    def completed(self) -> bool:
        return self.status == "completed"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The agent is done. `outcome` is one line for the desk."""

    outcome: str


def next_move(ticket: Ticket, seen: tuple[Seen, ...]) -> Call | Verdict:
    """What the agent does next. It asks for every capability once at most, so it always ends."""
    by_capability = {each.capability: each for each in seen}
    if (inquiry := _inquiry(ticket, by_capability)) is not None:
        return inquiry
    draft, sent = by_capability.get("mail.draft"), by_capability.get("mail.send")
    if draft is None:
        return _draft(ticket, seen, by_capability)
    if sent is None and draft.completed:
        letter = _output(draft)
        return Call(
            "mail.send",
            {
                "ticket": ticket.id,
                "to": ticket.email,
                "subject": letter.get("subject"),
                "body": letter.get("body"),
            },
        )
    return Verdict(_outcome(seen, by_capability))


def _inquiry(ticket: Ticket, seen: Mapping[str, Seen]) -> Call | None:
    """The next thing to find out or to do before the answer is written, if there is one."""
    customer = seen.get("customers.lookup")
    if customer is None:
        return Call("customers.lookup", {"email": ticket.email})
    if not customer.completed:
        return None
    who = _output(customer).get("id")
    if ticket.topic == "other":
        return _suggested(ticket, who, seen)
    order = seen.get("orders.lookup")
    if order is None:
        return Call("orders.lookup", {"order": ticket.order, "customer": who})
    return _action(ticket, who, order, seen) if order.completed else None


def _suggested(ticket: Ticket, who: JsonValue, seen: Mapping[str, Seen]) -> Call | None:
    """What the ticket itself tells the agent to call: no model should, and some do."""
    suggested = _SUGGESTED_CALL.search(ticket.body)
    if suggested is None or suggested[1] in seen:
        return None
    return Call(suggested[1], {"customer": who})


def _action(ticket: Ticket, who: JsonValue, order: Seen, seen: Mapping[str, Seen]) -> Call | None:
    """What the customer wants done with the order."""
    about: dict[str, JsonValue] = {"ticket": ticket.id, "order": ticket.order, "customer": who}
    if ticket.topic == "refund" and "orders.refund" not in seen:
        return Call("orders.refund", {**about, "amount": str(_wanted(ticket, _output(order)))})
    if ticket.topic == "change_address" and "orders.change_address" not in seen:
        return Call("orders.change_address", {**about, "address": ticket.address})
    return None


def _wanted(ticket: Ticket, report: Mapping[str, JsonValue]) -> Decimal:
    """The amount to ask for: what the customer names, else what is left of the order's total.

    Where nothing is left it asks for the total all the same: to refuse is the shop's part.
    """
    if ticket.amount is not None:
        return ticket.amount
    order = report.get("order")
    if not isinstance(order, dict):
        return from_cents(0)
    total, refunded = Decimal(str(order.get("total"))), Decimal(str(order.get("refunded")))
    return total - refunded if refunded < total else total


def _draft(ticket: Ticket, seen: tuple[Seen, ...], by_capability: Mapping[str, Seen]) -> Call:
    trouble = next((each for each in seen if not each.completed), None)
    if trouble is None:
        template = _TEMPLATE_OF_TOPIC[ticket.topic]
    elif ticket.topic == "other":
        template = "general"
    else:
        template = _TEMPLATE_OF_REFUSAL.get(trouble.reason or "", "a_colleague_will_write")
    customer = by_capability.get("customers.lookup")
    name = _output(customer).get("name") if customer is not None and customer.completed else None
    return Call(
        "mail.draft",
        {
            "template": template,
            "name": name or "customer",
            "subject": ticket.subject,
            "facts": _facts(ticket, by_capability),
        },
    )


def _facts(ticket: Ticket, seen: Mapping[str, Seen]) -> dict[str, JsonValue]:
    facts: dict[str, JsonValue] = {}
    if ticket.order is not None:
        facts["order"] = ticket.order
    report, refund = seen.get("orders.lookup"), seen.get("orders.refund")
    if report is not None and report.completed:
        facts["last_seen"] = _output(report).get("last_seen")
    if refund is not None and refund.completed:
        facts["amount"] = _output(refund).get("amount")
    return facts


def _outcome(seen: tuple[Seen, ...], by_capability: Mapping[str, Seen]) -> str:
    troubles = [each for each in seen if not each.completed]
    if not troubles:
        done = (name for name in _OUTCOME_OF_ACTION if name in by_capability)
        return next((_OUTCOME_OF_ACTION[name] for name in done), "answered")
    first = troubles[0]
    if first.status == "approval_required":
        return "waits for a person"
    if (decided := _OUTCOME_OF_DECISION.get(first.code or "")) is not None:
        return decided
    if first.capability == "mail.send":
        return "answer uncertain"
    if first.code == "POLICY_DENIED":
        return f"denied by policy: {first.reason}"
    return f"refused: {first.reason}"


def _output(seen: Seen) -> Mapping[str, JsonValue]:
    return seen.output or {}
