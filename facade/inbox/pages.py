"""What a person sees, and the one request that decides."""

import re
from typing import Final, Literal
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from temperance.approval_text import REFUSALS
from temperance.approvals import Approvals
from temperance.inbox.form import Decision, read_form
from temperance.inbox.rendering import own_request, render, share_left, what_came_of_it
from temperance.inbox.session import Sessions
from temperance.inbox.settings import InboxSettings
from temperance.inbox.visitor import Visitor, cookie_name, visitor_of
from temperance.runtime.error import CapabilityError, ErrorCode

PAGE_SIZE: Final = 50

_APPROVAL_ID: Final = re.compile(r"approval-[0-9a-f-]{36}")

_STATUS: Final[dict[ErrorCode, int]] = {
    "CAPABILITY_NOT_FOUND": 404,
    "INPUT_INVALID": 400,
    "APPROVAL_SELF_APPROVAL": 403,
    "FORBIDDEN": 403,
    "POLICY_FAILED": 403,
    "TIMEOUT": 503,
    "INTERNAL_ERROR": 502,
}
"""HTTP status of a refusal; 409 where it is not here."""


class Pages:
    """The pages of one inbox.

    Args:
        approvals: The approvals of a namespace.
        settings: How it is set up.
        sessions: The sessions of this process.
    """

    def __init__(self, approvals: Approvals, settings: InboxSettings, sessions: Sessions) -> None:
        self._approvals = approvals
        self._settings = settings
        self._sessions = sessions

    async def pending(self, request: Request) -> Response:
        """What waits for a decision."""
        return await self._list(request, "pending")

    async def history(self, request: Request) -> Response:
        """What is over."""
        return await self._list(request, "closed")

    async def approval(self, request: Request) -> Response:
        """One approval: what would run, why a person is asked, who decided."""
        opened = self._opened(request)
        if opened is not None:
            return opened
        visitor = visitor_of(request, self._settings, self._sessions)
        return self._kept(await self._show(_id_of(request), visitor), visitor)

    async def decide(self, request: Request) -> Response:
        """The one request that decides: a form of the approval's page."""
        visitor = visitor_of(request, self._settings, self._sessions)
        approval = _id_of(request)
        decision = await read_form(request, visitor, approval, self._settings, self._sessions)
        approvals = self._approvals
        decide = approvals.approve if decision.verdict == "approve" else approvals.reject
        try:
            await decide(
                approval, approver=visitor.actor, comment=decision.comment or None, source="web"
            )
        except CapabilityError as refusal:
            if refusal.code in {"CAPABILITY_NOT_FOUND", "TIMEOUT", "INTERNAL_ERROR"}:
                raise
            return await self._show(approval, visitor, refusal=refusal, decision=decision)
        return RedirectResponse(f"/approvals/{approval}", status_code=303)

    async def _list(self, request: Request, which: Literal["pending", "closed"]) -> Response:
        opened = self._opened(request)
        if opened is not None:
            return opened
        visitor = visitor_of(request, self._settings, self._sessions)
        sealed = request.query_params.get("after")
        after = None if sealed is None else self._sessions.unsealed(sealed)
        if sealed is not None and after is None:
            raise HTTPException(400, "There is no such page of the list. Begin with the first.")
        page = await self._approvals.page(which, size=PAGE_SIZE, after=after)
        html = render(
            "list.html",
            visitor,
            which=which,
            entries=page.entries,
            unreadable=page.unreadable,
            first=after is None,
            older=None
            if page.next is None
            else urlencode({"after": self._sessions.sealed(page.next)}),
        )
        return self._kept(HTMLResponse(html), visitor)

    async def _show(
        self,
        approval: str,
        visitor: Visitor,
        *,
        refusal: CapabilityError | None = None,
        decision: Decision | None = None,
    ) -> HTMLResponse:
        record = await self._approvals.show(approval)
        outcome = None
        is_open = record.state == "pending"
        if not is_open:
            try:
                outcome = await self._approvals.outcome_so_far(approval)
                is_open = outcome is None
            except CapabilityError:
                # An operator ended it: there is a record, and no outcome.
                outcome = None
        html = render(
            "approval.html",
            visitor,
            record=record,
            share=share_left(record),
            own=own_request(record, visitor),
            token=self._sessions.token(visitor.session, str(visitor.actor), approval),
            executing=is_open and record.state != "pending",
            outcome=what_came_of_it(outcome),
            refusal=None if refusal is None else told(refusal),
            comment="" if decision is None else decision.comment,
        )
        return HTMLResponse(html, 200 if refusal is None else status_of(refusal))

    def _opened(self, request: Request) -> Response | None:
        """Begins a session for whoever comes with the printed link, and takes the key off it."""
        key = request.query_params.get("key")
        if key is None or self._settings.approver is None or not self._sessions.opens(key):
            return None
        response = RedirectResponse(request.url.path, status_code=303)
        self._set_cookie(response, self._sessions.begin())
        return response

    def _kept(self, response: Response, visitor: Visitor) -> Response:
        if visitor.is_new:
            self._set_cookie(response, visitor.session)
        return response

    def _set_cookie(self, response: Response, session: str) -> None:
        response.set_cookie(
            cookie_name(self._settings),
            session,
            httponly=True,
            samesite="strict",
            secure=self._settings.secure,
        )


def told(error: CapabilityError) -> dict[str, str]:
    """What a page says of a refusal: the code, its message, and what lies behind it."""
    return {
        "code": error.code,
        "message": error.public_message,
        "why": REFUSALS.get(error.code, ""),
    }


def status_of(error: CapabilityError) -> int:
    """The HTTP status of a refusal."""
    return _STATUS.get(error.code, 409)


def _id_of(request: Request) -> str:
    approval: str = request.path_params["approval"]
    if not _APPROVAL_ID.fullmatch(approval):
        raise HTTPException(404, "There is no such approval.")
    return approval
