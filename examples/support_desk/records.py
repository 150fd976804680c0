"""What a ticket's workflow reports: which calls were made, and how each of them ended."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from .agent import Status

Effect = Literal["none", "possible", "done"]
"""What an envelope says of the world."""


class CallRecord(BaseModel):
    """One execution of a capability, as its envelope tells it."""

    model_config = ConfigDict(frozen=True)

    capability: str
    execution: str
    status: Status
    effect: Effect
    attempts: int
    errors: tuple[str, ...] = ()
    code: str | None = None
    reason: str | None = None


class TicketRecord(BaseModel):
    """What became of a ticket."""

    model_config = ConfigDict(frozen=True)

    ticket: str
    outcome: str
    calls: tuple[CallRecord, ...]

    def call(self, capability: str) -> CallRecord | None:
        """The call of this capability, if the agent made it."""
        return next((c for c in self.calls if c.capability == capability), None)
