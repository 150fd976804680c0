"""What a line says beside its text: the exception, and where in Temporal it was logged."""

import logging
import traceback
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from pydantic import ValidationError
from temporalio import workflow

from temperance.log_line import Fields

_STANDARD: Final = frozenset(
    {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName", "temporal_log"}
)
_OF_THE_SDK: Final = ("temporal_workflow", "temporal_activity")
_KEPT_OF_THE_SDK: Final = {
    "workflow_id": "workflow_id",
    "run_id": "run_id",
    "workflow_run_id": "run_id",
    "workflow_type": "workflow_type",
    "activity_id": "activity_id",
    "activity_type": "activity_type",
    "attempt": "attempt",
}


def fields_of(record: logging.LogRecord) -> Fields:
    """The fields of a record of the standard library, ``extra`` included.

    Args:
        record: The record. What the SDK adds about the workflow or activity is laid beside the
            rest.

    Returns:
        A new dict.
    """
    fields: Fields = {
        "level": record.levelname.lower(),
        "logger": record.name,
        "event": record.getMessage(),
    }
    for key, value in vars(record).items():
        if key in _OF_THE_SDK:
            fields.update(_of_the_sdk(value))
        elif key not in _STANDARD and not key.startswith("_"):
            fields[key] = value
    if record.exc_info and record.exc_info[1] is not None:
        fields["exception"] = exception_text(record.exc_info[1])
    return fields


def _of_the_sdk(details: Mapping[str, object]) -> Fields:
    named = {
        _KEPT_OF_THE_SDK[key]: value for key, value in details.items() if key in _KEPT_OF_THE_SDK
    }
    return {key: value for key, value in named.items() if value is not None}


def is_replaying() -> bool:
    """Whether the caller is workflow code that is being replayed: it logged this line before."""
    return workflow.in_workflow() and workflow.unsafe.is_replaying_history_events()


def workflow_fields() -> Fields:
    """The workflow that the caller is code of, if it is."""
    if not workflow.in_workflow():
        return {}
    info = workflow.info()
    return {"workflow_id": info.workflow_id, "run_id": info.run_id}


def exception_text(error: BaseException) -> str:
    """The traceback of an exception, causes first, without anybody's data.

    No local variables; and of a `pydantic.ValidationError` places and kinds only, because its own
    text quotes the input.

    Args:
        error: The exception.

    Returns:
        Lines as Python prints them, without a newline at the end.
    """
    return "".join(_text_of(error, set())).rstrip("\n")


def _text_of(error: BaseException, seen: set[int]) -> Iterator[str]:
    seen.add(id(error))
    cause, context = error.__cause__, error.__context__
    if cause is not None and id(cause) not in seen:
        yield from _text_of(cause, seen)
        yield "\nThe above exception was the direct cause of the following exception:\n\n"
    elif context is not None and not error.__suppress_context__ and id(context) not in seen:
        yield from _text_of(context, seen)
        yield "\nDuring handling of the above exception, another exception occurred:\n\n"
    if error.__traceback__ is not None:
        yield "Traceback (most recent call last):\n"
        yield from traceback.format_tb(error.__traceback__)
    yield from _last_lines(error)
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        for number, member in enumerate(group.exceptions, 1):
            yield f"---------------- {number} ----------------\n"
            if id(member) not in seen:
                yield from _text_of(member, seen)


def _last_lines(error: BaseException) -> Iterator[str]:
    if not isinstance(error, ValidationError):
        # The notes of an exception are part of what it says.
        yield from traceback.format_exception_only(type(error), error)
        return
    found: list[Any] = list(
        error.errors(include_input=False, include_context=False, include_url=False)
    )
    yield f"{type(error).__module__}.{type(error).__qualname__}: {len(found)} in {error.title}\n"
    for problem in found:
        place = ".".join(str(step) for step in problem["loc"])
        yield f"  {place or '(the whole)'}: {problem['type']}\n"
