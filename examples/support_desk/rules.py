"""The rules around the capabilities: refusals that a caller may read, and policies that come first.

What the shop refuses is declared, so the agent sees the reason. Whatever else a handler raises is
concealed (G10): the warehouse's "connection reset" is for the worker's log only.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar

from temperance import Context, Decision, DeclaredError, Proceed, Request, allow, deny

from .models import RefundRequest
from .shop import Rule, ShopError

REFUND_LIMIT = Decimal("500.00")
"""The most that the agent may refund at a time."""


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
    """Policy: the agent refunds no more than `REFUND_LIMIT` at a time."""
    wanted = request.input
    if isinstance(wanted, RefundRequest) and wanted.amount > REFUND_LIMIT:
        return deny("OVER_THE_LIMIT", f"At most {REFUND_LIMIT} EUR are refunded at a time.")
    return allow()
