"""What goes into the capabilities and comes out of them."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from .money import Balance, Money
from .tickets import Email, Name

OrderStatus = Literal["packed", "shipped", "delivered", "returned"]
"""Where an order stands in the shop's own books."""

Template = Literal[
    "order_status",
    "refunded",
    "refund_refused",
    "address_changed",
    "a_colleague_will_write",
    "customer_unknown",
    "order_unknown",
    "general",
]
"""The letters that the desk can write."""

Text = Annotated[str, StringConstraints(min_length=1, max_length=5000)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Customer(_Frozen):
    id: Name
    email: Email
    name: str


class Order(_Frozen):
    """An order with what has been refunded of it so far."""

    id: Name
    customer: Name
    item: str
    total: Money
    refunded: Balance
    status: OrderStatus


class CustomerQuery(_Frozen):
    email: Email


class OrderQuery(_Frozen):
    order: Name
    customer: Name


class OrderReport(_Frozen):
    """An order as the shop knows it and where the warehouse last saw it."""

    order: Order
    last_seen: str


class RefundRequest(_Frozen):
    ticket: Name
    order: Name
    customer: Name
    amount: Money


class Refund(_Frozen):
    """A refund that is booked in the shop and charged at the gateway."""

    order: Name
    amount: Money
    charge: str


class AddressChange(_Frozen):
    ticket: Name
    order: Name
    customer: Name
    address: Annotated[str, StringConstraints(min_length=1, max_length=200)]


class AddressChanged(_Frozen):
    order: Name
    changed: Literal[True] = True


class Erasure(_Frozen):
    customer: Name


class Erased(_Frozen):
    customer: Name


class DraftRequest(_Frozen):
    """Which letter, and the facts to put into it."""

    template: Template
    name: str
    subject: Text
    facts: Annotated[dict[str, str], Field(max_length=10)] = {}


class Draft(_Frozen):
    subject: Text
    body: Text


class Mail(_Frozen):
    ticket: Name
    to: Email
    subject: Text
    body: Text


class MailAccepted(_Frozen):
    """The mail server's receipt."""

    message: int
