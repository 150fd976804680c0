"""What the agent may do, and by which rules.

The shop, the gateway and the mail server know nothing of `temperance`. This module says what each
operation does to the world, and the runtime derives the rest: how often it may be tried, who may
ask for it, what is recorded.
"""

from datetime import timedelta

from temperance import Approval, Context, Retry, capability

from . import letters
from .models import (
    AddressChange,
    AddressChanged,
    Customer,
    CustomerQuery,
    Draft,
    DraftRequest,
    Erased,
    Erasure,
    Mail,
    MailAccepted,
    OrderQuery,
    OrderReport,
    Refund,
    RefundRequest,
)
from .premises import Premises
from .rules import refund_limit


@capability(
    "customers.lookup",
    description="Find a customer by e-mail address.",
    expose={"agent", "workflow"},
    side_effect="read",
    risk="low",
    timeout=timedelta(seconds=5),
)
def look_up_customer(input: CustomerQuery, ctx: Context[Premises]) -> Customer:
    return ctx.app.shop.customer(input.email)


@capability(
    "orders.lookup",
    description="Find an order of a customer, and where its parcel was last seen.",
    expose={"agent", "workflow"},
    side_effect="read",
    risk="low",
    retry=Retry(max_retries=2),
    timeout=timedelta(seconds=5),
)
def look_up_order(input: OrderQuery, ctx: Context[Premises]) -> OrderReport:
    order = ctx.app.shop.order(input.order, input.customer)
    return OrderReport(order=order, last_seen=ctx.app.warehouse.last_seen(order.id))


@capability(
    "orders.refund",
    description="Refund an order, in full or in part. Look the order up first.",
    expose={"agent", "workflow"},
    side_effect="write",
    risk="high",
    idempotent=True,
    retry=Retry(max_retries=3),
    timeout=timedelta(seconds=4),
    policies=[refund_limit],
)
async def refund_order(input: RefundRequest, ctx: Context[Premises]) -> Refund:
    """Books the refund, pays it, and closes the booking.

    Idempotent because every step is, under one key: a later attempt finds the booking, the gateway
    knows the charge, and closing twice writes the same.
    """
    shop, gateway, key = ctx.app.shop, ctx.app.gateway, ctx.idempotency_key
    shop.open_refund(input.order, input.customer, input.amount, ticket=input.ticket, key=key)
    charge = await gateway.refund(input.order, input.amount, key=key)
    shop.close_refund(key, charge.id)
    return Refund(order=input.order, amount=input.amount, charge=charge.id)


@capability(
    "orders.change_address",
    description="Send an order to another address.",
    expose={"agent", "workflow"},
    side_effect="write",
    risk="high",
    approval=Approval(type="shift_lead", reason="A changed address is how parcels are stolen."),
)
def change_address(input: AddressChange, ctx: Context[Premises]) -> AddressChanged:
    ctx.app.shop.change_address(input.order, input.customer, input.address)
    return AddressChanged(order=input.order)


@capability(
    "customers.erase",
    description="Erase a customer's personal data for good.",
    expose={"direct"},
    side_effect="destructive",
    risk="critical",
)
def erase_customer(input: Erasure, ctx: Context[Premises]) -> Erased:
    """Never exposed to agents: to them it is as if it did not exist (G9)."""
    ctx.app.shop.erase_customer(input.customer)
    return Erased(customer=input.customer)


@capability(
    "mail.draft",
    description="Write the answer to a ticket.",
    expose={"agent", "workflow"},
    side_effect="none",
    risk="low",
)
def draft_mail(input: DraftRequest) -> Draft:
    return letters.write(input)


@capability(
    "mail.send",
    description="Send a letter to a customer. It cannot be taken back.",
    expose={"agent", "workflow"},
    side_effect="external",
    risk="medium",
    timeout=timedelta(seconds=8),
)
async def send_mail(input: Mail, ctx: Context[Premises]) -> MailAccepted:
    """Not idempotent: the mail server knows no keys, so nobody may try this twice."""
    number = await ctx.app.mail_server.send(
        ticket=input.ticket, to=input.to, subject=input.subject, body=input.body
    )
    return MailAccepted(message=number)
