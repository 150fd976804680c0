"""The inbox as an ASGI application."""

from importlib.resources import files

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp
from temporalio.service import RPCError

from temperance.approvals import Approvals
from temperance.inbox.form import Strayed
from temperance.inbox.guard import Guard
from temperance.inbox.pages import Pages, status_of, told
from temperance.inbox.rendering import render
from temperance.inbox.session import Sessions
from temperance.inbox.settings import InboxSettings
from temperance.inbox.visitor import Turned
from temperance.runtime.error import CapabilityError


def make_inbox(
    approvals: Approvals, settings: InboxSettings, sessions: Sessions | None = None
) -> ASGIApp:
    """Makes the inbox, to be served by `temperance.inbox.serving` or by any ASGI server.

    Args:
        approvals: The approvals of a namespace.
        settings: How it is set up.
        sessions: The sessions of this process; new ones unless given.
    """
    pages = Pages(approvals, settings, sessions or Sessions())
    site = Starlette(
        routes=[
            Route("/", pages.pending),
            Route("/history", pages.history),
            Route("/approvals/{approval}", pages.approval, methods=["GET"]),
            Route("/approvals/{approval}", pages.decide, methods=["POST"]),
            Route("/inbox.css", _style),
        ],
        exception_handlers={
            Turned: _turned,
            Strayed: _strayed,
            CapabilityError: _refused,
            RPCError: _unreachable,
            HTTPException: _wrong,
            Exception: _unforeseen,
        },
    )
    site.router.redirect_slashes = False
    return Guard(site, settings)


_CSS = (files("temperance.inbox") / "inbox.css").read_text()


async def _style(request: Request) -> Response:
    del request
    return Response(_CSS, media_type="text/css")


def _message(status: int, title: str, *lines: str) -> HTMLResponse:
    return HTMLResponse(render("message.html", title=title, lines=lines), status)


async def _turned(request: Request, error: Exception) -> Response:
    del request
    return _message(403, "Who are you?", str(error))


async def _strayed(request: Request, error: Exception) -> Response:
    del request, error
    return _message(
        403,
        "Nothing was decided",
        "This form did not come from a page that the inbox gave you, or the inbox was started anew "
        "since. Open the approval again, and decide there.",
    )


async def _refused(request: Request, error: Exception) -> Response:
    del request
    if not isinstance(error, CapabilityError):
        raise error
    refusal = told(error)
    lines = [refusal["message"], refusal["why"] and f"{refusal['why'].capitalize()}."]
    return _message(status_of(error), refusal["code"], *filter(None, lines))


async def _unreachable(request: Request, error: Exception) -> Response:
    del request, error
    return _message(
        502,
        "The Temporal server does not answer",
        "Approvals are kept there and are safe. Try again in a moment; a decision that was being "
        "sent may count, and sent again it still counts once.",
    )


async def _unforeseen(request: Request, error: Exception) -> Response:
    # What it was goes into the log.
    del request, error
    return _message(
        500,
        "Something went wrong here",
        "The log of the inbox says what. If a decision was being sent, look at the approval again.",
    )


async def _wrong(request: Request, error: Exception) -> Response:
    del request
    if not isinstance(error, HTTPException):
        raise error
    titles = {404: "There is nothing here", 405: "That is not done this way"}
    response = _message(error.status_code, titles.get(error.status_code, "Refused"), error.detail)
    response.headers.update(error.headers or {})
    return response
