"""What the workflows of these tests ask for: an order that says what its handler is to do."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

Act = Literal["return", "raise", "refuse", "busy", "hang", "wait", "die", "stop", "nap"]
"""What a handler does in one attempt, after its entry and its effect.

    return   gives its output
    raise    an exception that nobody declared
    refuse   a declared error that is final
    busy     a declared error that asks to be tried again after a delay of its own
    hang     waits until its deadline strikes
    wait     waits for the test to open the gate of its case
    die      kills its own process
    stop     suspends its own process, and gives its output once it is continued
    nap      the same, but lets the event loop run a few turns before
"""


class Order(BaseModel):
    """The input of every capability here. `acts` has one act an attempt; the last one repeats."""

    model_config = ConfigDict(frozen=True, strict=True)

    case: str
    acts: tuple[Act, ...]


class Receipt(BaseModel):
    """The output: which attempt gave it."""

    case: str
    attempt: int
