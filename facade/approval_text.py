"""What people read of an approval, in the terminal and on the web alike."""

import json
from datetime import datetime, timedelta
from typing import Final

from pydantic import JsonValue

from temperance.printable import printable
from temperance.runtime.approval import ApprovalState
from temperance.runtime.error import ErrorCode
from temperance.runtime.names import Effect, SideEffect, Surface

STATES: Final[dict[ApprovalState, str]] = {
    "pending": "waits for a decision",
    "approved": "its execution is about to begin",
    "consumed": "its execution has begun; it begins only once",
    "rejected": "nothing was run",
    "expired": "nobody decided in time; nothing was run",
    "cancelled": "withdrawn; nothing was run",
}
"""What each state means."""

SURFACES: Final[dict[Surface, str]] = {
    "direct": "directly",
    "workflow": "in a workflow",
    "agent": "through an agent",
    "mcp": "over MCP",
    "test": "in a test",
}
"""What each door means."""

EFFECTS: Final[dict[Effect, str]] = {
    "none": "nothing was changed",
    "possible": "it may have taken effect, and nobody knows: somebody has to look",
    "done": "it took effect",
}
"""What each effect means."""

SIDE_EFFECTS: Final[dict[SideEffect, str]] = {
    "none": "changes nothing",
    "read": "reads, and changes nothing",
    "write": "changes something",
    "destructive": "destroys something",
    "external": "acts on the world outside, and cannot be taken back",
}
"""What each side effect means."""

REFUSALS: Final[dict[ErrorCode, str]] = {
    "APPROVAL_CONSUMED": "somebody has approved it before",
    "APPROVAL_REJECTED": "somebody has rejected it before",
    "APPROVAL_EXPIRED": "it has expired: whoever asked has to ask again",
    "APPROVAL_CANCELLED": "it was withdrawn, or whoever asked for it was cancelled",
    "APPROVAL_SELF_APPROVAL": "whoever asked may not decide: leave it to somebody else",
    "FORBIDDEN": "the application's own rule leaves this to somebody else",
    "POLICY_FAILED": "the application's own rule failed, which refuses: its owner has to mend it",
    "CAPABILITY_NOT_FOUND": "it may be of another namespace, or the server keeps it no longer",
    "TIMEOUT": "a worker of the application has to run; then send the same again, it counts once",
}
"""What lies behind a refusal, or what to do about it."""


def as_json(value: JsonValue) -> str:
    """A value as JSON on several lines, every character of it visible."""
    return printable(json.dumps(value, indent=2, ensure_ascii=False))


def duration(length: timedelta) -> str:
    """A length of time in its two largest units: ``45s``, ``12m 03s``, ``2h 05m``, ``3d 04h``."""
    seconds = max(int(length.total_seconds()), 0)
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if days:
        return f"{days}d {hours % 24:02}h"
    if hours:
        return f"{hours}h {minutes % 60:02}m"
    return f"{minutes}m {seconds % 60:02}s" if minutes else f"{seconds}s"


def time_left(until: datetime, now: datetime) -> str:
    """How long a decision still counts."""
    return f"in {duration(until - now)}" if until > now else "has expired"


def instant(at: datetime) -> str:
    """A point in time, such as ``2026-05-03 09:41:50 UTC``."""
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"
