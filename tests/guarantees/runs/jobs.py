"""What the workflows of these tests ask for, and what they get."""

from typing import Literal

from pydantic import BaseModel

Act = Literal["return", "raise", "wait", "decline", "huge"]


class Job(BaseModel):
    """One thing to do, by a handler that notes its label and then does as `act` says.

    `note` tells apart requests that are otherwise the same.
    """

    label: str
    act: Act = "return"
    note: str = ""
    tags: set[str] = set()


class Receipt(BaseModel):
    """That it was done, and under which key."""

    label: str
    key: str


class Ask(BaseModel):
    """One execution to ask for."""

    capability: str
    job: Job
    step: str | None = None
    actor: str = "ada"
    queue: str | None = None


class Plan(BaseModel):
    """What a workflow is to do: ask for these, one after the other or all at once.

    What is asked `beside` them is awaited only where the workflow ends well. Afterwards it fails,
    as long as it is not retried more than `fails` times; continues as new, `again` times; holds
    until it is told to finish; or ends. `patience`, in seconds, is what foreign code gives an
    activity.
    """

    asks: tuple[Ask, ...] = ()
    beside: tuple[Ask, ...] = ()
    at_once: bool = False
    fails: int = 0
    again: int = 0
    hold: bool = False
    patience: float = 10
