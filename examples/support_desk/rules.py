"""The rules around the capabilities: refusals that a caller may read, and policies that come first.

What the shop refuses is declared, so the agent sees the reason. Whatever else a handler raises is
concealed (G10): the warehouse's "connection reset" is for the worker's log only.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar

from temperance import (
    Actor,
    ApprovalRecord,
    Context,
    Decision,
    DeclaredError,
    Proceed,
    Request,
    allow,
    deny,
    require_approval,
)

from .models import RefundRequest
from .shop import Rule, ShopError

REFUND_LIMIT = Decimal("500.00")
"""The most that the agent refunds without asking a person."""

REFUND_CEILING = Decimal("1000.00")
"""The most that this desk refunds at all."""


class UnknownCustomer(DeclaredError):
    reason: ClassVar[str] = "UNKNOWN_CUSTOMER"


class UnknownOrder(DeclaredError):
    reason: ClassVar[str] = "UNKNOWN_ORDER"


class NotYourOrder(DeclaredError):
    reason: ClassVar[str] = "NOT_YOUR_ORDER"


class AlreadyRefunded(DeclaredError):
    reason: ClassVar[str] = "ALREADY_REFUNDED"


class MoreThanIsLeft(DeclaredError):
    reason: ClassVar[str] = "MORE_THAN_IS_LEFT"


_REFUSALS: Mapping[Rule, tuple[type[DeclaredError], str]] = {
    "UNKNOWN_CUSTOMER": (UnknownCustomer, "No customer has this address."),
    "UNKNOWN_ORDER": (UnknownOrder, "There is no such order."),
    "NOT_YOUR_ORDER": (NotYourOrder, "The order belongs to another customer."),
    "ALREADY_REFUNDED": (AlreadyRefunded, "Nothing of the order is left to refund."),
    "MORE_THAN_IS_LEFT": (MoreThanIsLeft, "Less than this is left of the order to refund."),
}


async def declare_refusals(ctx: Context[Any], proceed: Proceed) -> object:
    """Middleware: what the shop refuses becomes an error that the caller may read."""
    try:
        return await proceed()
    except ShopError as error:
        kind, message = _REFUSALS[error.rule]
        raise kind(message) from error


def refund_limit(request: Request[Any, Any]) -> Decision:
    """Policy: over `REFUND_LIMIT` a person decides, over `REFUND_CEILING` nobody here may."""
    wanted = request.input
    if not isinstance(wanted, RefundRequest) or wanted.amount <= REFUND_LIMIT:
        return allow()
    if wanted.amount > REFUND_CEILING:
        return deny("OVER_THE_CEILING", f"This desk refunds at most {REFUND_CEILING} EUR.")
    reason = f"{wanted.amount} EUR is more than the {REFUND_LIMIT} EUR that the agent may refund."
    return require_approval(reason, type="shift_lead")


def only_people(approver: Actor, record: ApprovalRecord) -> bool:
    """Who may approve: people, and no other program. Who asked may not in any case."""
    del record
    return approver.kind == "user"
