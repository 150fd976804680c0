"""A read that many ask for at once."""

from pydantic import BaseModel

from temperance import capability


class Number(BaseModel):
    """Which one."""

    n: int


@capability(
    "crowd.echo",
    description="Say the number again.",
    expose={"workflow"},
    side_effect="none",
    risk="low",
)
async def echo(input: Number) -> Number:
    """The same number."""
    return input
