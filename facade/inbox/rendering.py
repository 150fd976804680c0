"""Templates, and what of a record they are given. Everything is escaped."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from temperance.approval_text import (
    EFFECTS,
    SIDE_EFFECTS,
    STATES,
    SURFACES,
    as_json,
    duration,
    instant,
    time_left,
)
from temperance.inbox.visitor import Visitor
from temperance.printable import printable
from temperance.runtime.approval import MAX_COMMENT, ApprovalRecord, same_person
from temperance.runtime.envelope import Cancelled, ExecutionResult, Failed


def _ago(at: datetime) -> str:
    return f"{duration(datetime.now(UTC) - at)} ago"


def _left(until: datetime) -> str:
    return time_left(until, datetime.now(UTC))


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("temperance.inbox", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        ago=_ago, left=_left, instant=instant, visible=printable, pretty=as_json
    )
    return environment


ENVIRONMENT: Final = _environment()

_WORDS: Final[dict[str, object]] = {
    "states": STATES,
    "side_effects": SIDE_EFFECTS,
    "surfaces": SURFACES,
    "longest_comment": MAX_COMMENT,
}


def render(template: str, visitor: Visitor | None = None, **values: object) -> str:
    """A page.

    Args:
        template: Its file.
        visitor: Who sees it.
        values: What the template is given.
    """
    return ENVIRONMENT.get_template(template).render(visitor=visitor, **_WORDS, **values)


def share_left(record: ApprovalRecord) -> int:
    """How much of the time for a decision is left, in hundredths."""
    whole = (record.expires_at - record.requested_at).total_seconds()
    left = (record.expires_at - datetime.now(UTC)).total_seconds()
    return min(max(round(100 * left / whole), 0), 100) if whole > 0 else 0


def own_request(record: ApprovalRecord, visitor: Visitor) -> bool:
    """Whether the visitor is the one who asked."""
    return same_person(record.actor, visitor.actor)


def what_came_of_it(outcome: ExecutionResult[object] | None) -> Mapping[str, str] | None:
    """An envelope without its output: that is for whoever asked."""
    if outcome is None:
        return None
    error = outcome.error if isinstance(outcome, Failed | Cancelled) else None
    return {
        "status": outcome.status,
        "effect": EFFECTS[outcome.effect],
        "attempts": f"{outcome.attempts} attempt{'' if outcome.attempts == 1 else 's'}",
        "error": "" if error is None else f"{error.code}: {error.message}",
    }
