"""The letters that the desk writes. Plain templates: here a language model would write."""

from collections.abc import Mapping

from .models import Draft, DraftRequest, Template

_BODIES: Mapping[Template, str] = {
    "order_status": "Your order {order} was last seen at {last_seen}.",
    "refunded": "We have refunded {amount} EUR for your order {order}.",
    "refund_refused": "We cannot refund this for your order {order}: too little is left of it.",
    "address_changed": "We will send your order {order} to the new address.",
    "a_colleague_will_write": "A colleague will look at your request and write to you.",
    "customer_unknown": "We know no customer with your address. Did you order with another one?",
    "order_unknown": "We cannot find the order {order} among your orders.",
    "general": "Thank you for writing to us. A colleague reads every message.",
}

_UNKNOWN = "(unknown)"


def write(request: DraftRequest) -> Draft:
    """The letter for this request. A fact that is not known is said to be unknown."""
    facts = {"order": _UNKNOWN, "last_seen": _UNKNOWN, "amount": _UNKNOWN, **request.facts}
    body = _BODIES[request.template].format_map(facts)
    return Draft(
        subject=f"Re: {request.subject}",
        body=f"Dear {request.name},\n\n{body}\n\nYour support desk",
    )
