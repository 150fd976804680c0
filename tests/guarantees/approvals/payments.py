"""What the workflows of these tests ask for, and what they get."""

from typing import Literal

from pydantic import BaseModel

from temperance import ExecutionResult

Act = Literal["return", "raise", "wait", "once"]
"""What the handler does after it was entered: ``once`` fails at the first attempt only."""


class Payment(BaseModel):
    """One payment, by a handler that notes its label and then does as `act` says."""

    label: str
    cents: int = 100
    card: str = "4111-SECRET"
    act: Act = "return"


class Receipt(BaseModel):
    """That it was paid, and under which key."""

    label: str
    key: str


class Ask(BaseModel):
    """One execution to ask for, with a payment as it is or as it is written in `raw`."""

    capability: str
    payment: Payment
    raw: str | None = None
    step: str | None = None
    wait: bool = True
    actor: str = "ada"
    queue: str | None = None


class Plan(BaseModel):
    """What a workflow is to do: ask for these, one after the other or all at once.

    Afterwards it awaits what is still to be decided where `await_held` says so, fails so many
    times, or holds until it is told to finish.
    """

    asks: tuple[Ask, ...] = ()
    at_once: bool = False
    await_held: bool = False
    fails: int = 0
    hold: bool = False


Answer = ExecutionResult[Receipt]
Answers = list[Answer]
