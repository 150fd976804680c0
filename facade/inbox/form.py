"""The form with which an approval is decided, judged before it is believed."""

from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request

from temperance.inbox.session import Sessions
from temperance.inbox.settings import InboxSettings
from temperance.inbox.visitor import Visitor

MAX_BYTES: Final = 64 * 1024
"""The longest comment is far below, written as a form in any script."""

Verdict = Literal["approve", "reject"]

_VERDICTS: Final[dict[str, Verdict]] = {"approve": "approve", "reject": "reject"}


class Strayed(Exception):
    """Raised for a form that did not come from a page of this inbox, or from one that is stale."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a form says.

    Args:
        verdict: Approve or reject.
        comment: The approver's words.
    """

    verdict: Verdict
    comment: str


async def read_form(
    request: Request, visitor: Visitor, approval: str, settings: InboxSettings, sessions: Sessions
) -> Decision:
    """Reads a decision.

    Raises:
        Strayed: The form did not come from a page that this visitor was given here.
        HTTPException: It is no form, or too long.
    """
    if not _is_of_this_site(request, settings):
        raise Strayed
    fields = await _fields(request)
    token = fields.get("token", "")
    if not sessions.allows(token, visitor.session, str(visitor.actor), approval):
        raise Strayed
    verdict = _VERDICTS.get(fields.get("verdict", ""))
    if verdict is None:
        raise HTTPException(400, "The form says neither approve nor reject.")
    return Decision(verdict, fields.get("comment", "").replace("\r\n", "\n").strip())


def _is_of_this_site(request: Request, settings: InboxSettings) -> bool:
    origins = request.headers.getlist("origin")
    if origins:
        return len(origins) == 1 and origins[0].lower() in settings.origins
    # Every browser of today sends one of the two with a form; what is no browser has no session.
    return request.headers.get("sec-fetch-site") == "same-origin"


async def _fields(request: Request) -> dict[str, str]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "A decision is sent as a form.")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BYTES:
            raise HTTPException(413, "The form is too long.")
    try:
        fields = parse_qs(body.decode("ascii"), errors="strict", max_num_fields=10)
    except ValueError:
        raise HTTPException(400, "The form cannot be read.") from None
    return {name: values[0] for name, values in fields.items() if len(values) == 1}
