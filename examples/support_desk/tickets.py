"""The inbox: support tickets as JSON lines, one ticket a line.

A line that is no ticket is a `Problem`, with the number of the line, the path of the field and the
reason. A problem never repeats what the line said: tickets carry what customers write.
"""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from .money import Money

Topic = Literal["refund", "order_status", "change_address", "other"]
"""What the customer chose in the contact form."""

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=40)]
"""An id as the shop writes it: `T-1001`, `A-2001`, `C-01`."""

Email = Annotated[str, StringConstraints(pattern=r"^[^@\s]+@[^@\s]+$", max_length=254)]

_LONGEST_PATH = 60


class Ticket(BaseModel):
    """One message of a customer, as the contact form sends it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Name
    received: AwareDatetime
    email: Email
    topic: Topic
    subject: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    body: Annotated[str, StringConstraints(max_length=5000)]
    order: Name | None = None
    amount: Money | None = None
    address: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None

    @model_validator(mode="after")
    def _has_what_its_topic_needs(self) -> Self:
        if self.topic != "other" and self.order is None:
            raise ValueError("this topic needs an order")
        if self.topic == "change_address" and self.address is None:
            raise ValueError("this topic needs an address")
        return self


class Problem(BaseModel):
    """Why a line is no ticket: `line 6: amount: Input should be a valid decimal`."""

    model_config = ConfigDict(frozen=True)

    line: Annotated[int, Field(gt=0)]
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


class Inbox(BaseModel):
    """What a file of tickets holds: the good ones in the order of the file, and the problems."""

    model_config = ConfigDict(frozen=True)

    tickets: tuple[Ticket, ...]
    problems: tuple[Problem, ...]


def read_inbox(path: Path) -> Inbox:
    """Reads a file of tickets.

    Empty lines are left out. Of several tickets with one id the first counts.

    Raises:
        OSError: the file cannot be read.
    """
    return parse_inbox(path.read_bytes())


def parse_inbox(content: bytes) -> Inbox:
    """The tickets and the problems in a file's content. A bad line is a problem, never an error."""
    tickets: dict[str, tuple[int, Ticket]] = {}
    problems: list[Problem] = []
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            ticket = Ticket.model_validate_json(line)
        except ValidationError as error:
            problems.append(Problem(line=number, reason=_reason(error)))
            continue
        if ticket.id in tickets:
            first, _ = tickets[ticket.id]
            problems.append(Problem(line=number, reason=f"id: already used in line {first}"))
            continue
        tickets[ticket.id] = (number, ticket)
    return Inbox(tickets=tuple(t for _, t in tickets.values()), problems=tuple(problems))


def _reason(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    reasons: list[str] = []
    for each in found:
        path = _printable(".".join(str(part) for part in each["loc"]))
        message = each["msg"].removeprefix("Value error, ").replace("at line 1 column", "at column")
        reasons.append(f"{path}: {message}" if path else message)
    return "; ".join(reasons)


def _printable(path: str) -> str:
    """A path that is safe to print: the name of an unexpected field is the sender's own text."""
    shown = "".join(c if c.isprintable() else "?" for c in path)
    return shown if len(shown) <= _LONGEST_PATH else shown[:_LONGEST_PATH] + "..."
