"""An envelope on standard output: for a person, or as one line of JSON."""

import json

from temperance.cli_exit import ExitCode
from temperance.printable import printable
from temperance.runtime.envelope import (
    ApprovalRequired,
    Cancelled,
    Completed,
    ExecutionResult,
    Failed,
)


def as_line(envelope: ExecutionResult[object]) -> str:
    """The envelope as one line of JSON."""
    return json.dumps(envelope.to_dict(), separators=(",", ":"))


def as_text(envelope: ExecutionResult[object], request_id: str) -> str:
    """The envelope for a person.

    Args:
        envelope: The envelope.
        request_id: The request's own id.
    """
    attempts = f"{envelope.attempts} attempt{'' if envelope.attempts == 1 else 's'}"
    lines = [
        f"{envelope.status}  {envelope.capability}  effect {envelope.effect}, {attempts}",
        f"execution  {envelope.execution_id}",
        f"request    {request_id}",
    ]
    if envelope.errors:
        lines.append(f"earlier    {', '.join(envelope.errors)}")
    match envelope:
        case Completed():
            lines += ["output", _pretty(envelope.output)]
        case ApprovalRequired():
            lines += [f"reason     {reason}" for reason in envelope.reasons]
            if envelope.types:
                lines.append(f"approver   {', '.join(envelope.types)}")
            lines.append(f"until      {envelope.expires_at.isoformat(timespec='seconds')}")
        case Failed() | Cancelled():
            code = f"{envelope.error.code} {envelope.error.reason or ''}".rstrip()
            lines.append(f"error      {code}: {envelope.error.message}")
            if envelope.error.details is not None:
                lines += ["details", _pretty(envelope.error.details)]
    return printable("\n".join(lines))


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def code_of(envelope: ExecutionResult[object]) -> ExitCode:
    """The exit code that the envelope comes to."""
    match envelope:
        case Completed():
            return ExitCode.OK
        case ApprovalRequired():
            return ExitCode.APPROVAL_REQUIRED
        case Cancelled():
            return ExitCode.CANCELLED
        case Failed():
            return ExitCode.FAILED
