"""Money: an amount with two decimals. In memory a `Decimal`, in SQLite a number of cents."""

from decimal import Decimal
from typing import Annotated

from pydantic import Field

Money = Annotated[Decimal, Field(gt=0, max_digits=9, decimal_places=2)]
"""An amount that is paid or refunded. In JSON it is a string: no cent is lost to a float."""

Balance = Annotated[Decimal, Field(ge=0, max_digits=9, decimal_places=2)]
"""An amount that may be nothing, such as what has been refunded so far."""


def to_cents(amount: Decimal) -> int:
    """The amount in cents.

    Raises:
        ValueError: the amount has a fraction of a cent.
    """
    cents = amount * 100
    if cents != cents.to_integral_value():
        raise ValueError("an amount has at most two decimals")
    return int(cents)


def from_cents(cents: int) -> Decimal:
    """The amount that `to_cents` came from."""
    return Decimal(cents).scaleb(-2)
