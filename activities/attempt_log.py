"""What logs say of an attempt: whose line it is, and one line where the SDK prints a stack.

Every line that a handler logs, through structlog or the standard library, carries the execution it
belongs to. The ids are kept in structlog's context variables, so that any structlog configuration
with ``structlog.contextvars.merge_contextvars`` shows them.
"""

import logging
from collections.abc import Sequence
from contextvars import ContextVar, Token
from typing import Any

import structlog.contextvars

from ..runtime.call import Call
from .failure import AttemptFailed


def _variables(*names: str) -> "tuple[ContextVar[Any], ...]":
    """The variables that structlog keeps these fields in; to find them anew is most of binding."""
    bound = structlog.contextvars.bind_contextvars(**dict.fromkeys(names))
    structlog.contextvars.reset_contextvars(**bound)
    return tuple(bound[name].var for name in names)


_EXECUTION_ID, _CAPABILITY, _ATTEMPT, _WORKFLOW_ID = _variables(
    "execution_id", "capability", "attempt", "workflow_id"
)

Bound = Sequence[Token[Any]]  # of structlog's own variables


def bind_attempt(call: Call) -> Bound:
    """Binds an attempt to the current context, with the ids that its audit events carry.

    Args:
        call: The attempt.

    Returns:
        What `unbind_attempt` needs.
    """
    return (
        _EXECUTION_ID.set(call.execution_id),
        _CAPABILITY.set(call.capability_id),
        _ATTEMPT.set(call.attempt),
        _WORKFLOW_ID.set(None if call.workflow is None else call.workflow.workflow_id),
    )


def unbind_attempt(bound: Bound) -> None:
    """Clears what `bind_attempt` has bound."""
    for token in bound:
        token.var.reset(token)


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
