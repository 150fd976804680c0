"""Two capabilities, of which one is registered."""

from pydantic import BaseModel

from temperance import capability


class Nothing(BaseModel):
    """Nothing."""


@capability("parts.known", description="Known.", expose={"direct"}, side_effect="none", risk="low")
async def known(input: Nothing) -> Nothing:
    """Registered."""
    return input


@capability("parts.lost", description="Lost.", expose={"direct"}, side_effect="none", risk="low")
async def lost(input: Nothing) -> Nothing:
    """Forgotten."""
    return input
