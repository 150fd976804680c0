"""The loop between agent and runtime: the agent proposes, the runtime answers, until it is done.

It is the same loop in a workflow (`workflow`) and in process (the tests). Nothing in it reaches
outside, so a replay takes it the same way again.
"""

from collections.abc import Awaitable, Callable

from pydantic import JsonValue, TypeAdapter
from pydantic_core import to_jsonable_python

from temperance import ApprovalRequired, Completed, ExecutionResult

from .agent import Call, Seen, Verdict, next_move
from .records import CallRecord, TicketRecord
from .tickets import Ticket

Ask = Callable[[Call], Awaitable[ExecutionResult[object]]]
"""Asks the runtime for one execution by the capability's name and raw JSON."""

_OUTPUT: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


async def answer(ticket: Ticket, ask: Ask) -> TicketRecord:
    """Lets the agent work on a ticket, and reports what it ran."""
    seen: tuple[Seen, ...] = ()
    calls: list[CallRecord] = []
    while not isinstance(move := next_move(ticket, seen), Verdict):
        envelope = await ask(move)
        seen = (*seen, _seen(envelope))
        calls.append(_record(envelope))
    return TicketRecord(ticket=ticket.id, outcome=move.outcome, calls=tuple(calls))


def _seen(envelope: ExecutionResult[object]) -> Seen:
    """What the agent is shown of an envelope."""
    if isinstance(envelope, Completed):
        output = _OUTPUT.validate_python(to_jsonable_python(envelope.output))
        return Seen(envelope.capability, envelope.status, output)
    return Seen(envelope.capability, envelope.status, None, _code(envelope), _reason(envelope))


def _record(envelope: ExecutionResult[object]) -> CallRecord:
    return CallRecord(
        capability=envelope.capability,
        execution=envelope.execution_id,
        status=envelope.status,
        effect=envelope.effect,
        attempts=envelope.attempts,
        errors=envelope.errors,
        code=_code(envelope),
        reason=_reason(envelope),
    )


def _code(envelope: ExecutionResult[object]) -> str | None:
    if isinstance(envelope, Completed):
        return None
    return "APPROVAL_REQUIRED" if isinstance(envelope, ApprovalRequired) else envelope.code


def _reason(envelope: ExecutionResult[object]) -> str | None:
    """Why it did not complete: the declared reason, such as ALREADY_REFUNDED, else the code."""
    declared = None if isinstance(envelope, Completed | ApprovalRequired) else envelope.error.reason
    return declared or _code(envelope)
