"""Executions that did not happen, and that their caller may have run again."""

from dataclasses import dataclass, field

from ..runtime.messages import Ask
from ..runtime.series import Series
from .reading import Asked


@dataclass(frozen=True, slots=True)
class Sent:
    """What was sent for an execution, to be sent once more.

    Args:
        data: Its raw input as bytes of JSON.
        ask: The request context.
        step: The step id.
        repeat_of: Step id of the first execution that asked for the same.
        task_queue: Where it runs; the workflow's own unless given.
    """

    data: bytes = field(repr=False)
    ask: Ask
    step: str
    repeat_of: str | None = None
    task_queue: str | None = None


@dataclass(frozen=True, slots=True)
class Absent:
    """An execution that did not happen.

    Args:
        asked: The request.
        sent: What was sent for it.
        next: The series that would be run.
    """

    asked: Asked
    sent: Sent
    next: Series
