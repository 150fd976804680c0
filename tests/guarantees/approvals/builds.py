"""Other builds of the application: a schema that has changed, a capability that is gone."""

from typing import Any

from pydantic import ConfigDict

from temperance import Capability, Context, capability
from tests.guarantees.approvals.capabilities import SHORT, note, pay
from tests.guarantees.approvals.payments import Payment, Receipt
from tests.guarantees.runs.books import Books


class WithDefault(Payment):
    """A field more, which requests of before do not have."""

    currency: str = "EUR"


class WithRequired(Payment):
    """A field more, which requests must have by now."""

    currency: str


class Described(Payment):
    """The same fields as before, and a title that says so."""

    model_config = ConfigDict(title="A payment, described anew")


async def pay_in(input: WithDefault, ctx: Context[Books]) -> Receipt:
    return await pay(input, ctx)


async def pay_only_in(input: WithRequired, ctx: Context[Books]) -> Receipt:
    return await pay(input, ctx)


async def pay_described(input: Described, ctx: Context[Books]) -> Receipt:
    return await pay(input, ctx)


later = capability(
    "pay.transfer",
    description="Move money, as built later.",
    expose={"workflow", "agent", "direct"},
    side_effect="write",
    risk="high",
    timeout=SHORT,
)

BUILDS: dict[str, tuple[Capability[Any, Receipt], ...]] = {
    "a field with a default": (later(pay_in), note),
    "a required field": (later(pay_only_in), note),
    "another title": (later(pay_described), note),
    "gone": (note,),
}
