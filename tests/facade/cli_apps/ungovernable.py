"""An application whose metadata is wrong in two places: it cannot even be imported."""

from pydantic import BaseModel

from temperance import App, Governance, Retry, capability


class Nothing(BaseModel):
    """Nothing."""


@capability(
    "wrong.write",
    description="Retried without being idempotent.",
    expose={"direct"},
    side_effect="write",
    risk="low",
    retry=Retry(max_retries=1),
)
async def write(input: Nothing) -> Nothing:
    """Never runs."""
    return input


@capability("wrong.empty", description="", expose={"direct"}, side_effect="none", risk="low")
async def empty(input: Nothing) -> Nothing:
    """Never runs."""
    return input


app = App(Governance([write, empty]))
