"""What logs say of an attempt: whose line it is, and one line where the SDK prints a stack.

Every line that a handler logs, through structlog or the standard library, carries the execution it
belongs to. The ids are kept in structlog's context variables, so that any structlog configuration
with ``structlog.contextvars.merge_contextvars`` shows them.
"""

import logging
from collections.abc import Mapping
from contextvars import Token
from typing import Any

import structlog.contextvars

from ..runtime.call import Call
from .failure import AttemptFailed


def bind_attempt(call: Call) -> Mapping[str, Token[Any]]:  # tokens of structlog's own variables
    """Binds an attempt to the current context, with the ids that its audit events carry.

    Args:
        call: The attempt.

    Returns:
        What `unbind_attempt` needs.
    """
    return structlog.contextvars.bind_contextvars(
        execution_id=call.execution_id,
        capability=call.capability_id,
        attempt=call.attempt,
        workflow_id=None if call.workflow is None else call.workflow.workflow_id,
    )


def unbind_attempt(bound: Mapping[str, Token[Any]]) -> None:
    """Clears what `bind_attempt` has bound."""
    structlog.contextvars.reset_contextvars(**bound)


class _OneLine(logging.Filter):
    """Takes the stack from the SDK's record of an `AttemptFailed`.

    Its frames are the library's own, and the public message that the exception carries is for the
    caller and not for a log: the code is what the line says.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, AttemptFailed):
            follows = "no further attempt" if error.non_retryable else "a further attempt is due"
            record.msg = f"{record.getMessage()}: {error.type}, {follows}"
            record.args = None
            record.exc_info = None
        return True


_ONE_LINE = _OneLine()


def quiet_attempt_failures() -> None:
    """Reduces the SDK's stack traces of failed attempts to one line each, in this process.

    Only records of the logger ``temporalio.activity`` that carry an `AttemptFailed` are changed;
    calling it again changes nothing.
    """
    logging.getLogger("temporalio.activity").addFilter(_ONE_LINE)
