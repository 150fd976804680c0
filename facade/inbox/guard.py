"""What holds for every request: which addresses are answered, and the headers of each answer."""

from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from temperance.inbox.settings import InboxSettings

HEADERS: Final = {
    # Forms go nowhere else, nobody frames the page, and no script runs, not even one of ours.
    "content-security-policy": "default-src 'none'; style-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    # "no-referrer" would have browsers send "Origin: null" with our own forms.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""The headers of every answer."""


class Guard:
    """Answers only under the addresses of the inbox, against DNS rebinding, and sets `HEADERS`.

    Args:
        app: The pages.
        settings: Of the inbox.
    """

    def __init__(self, app: ASGIApp, settings: InboxSettings) -> None:
        self._app = app
        self._hosts = settings.hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets a request through, or refuses it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        hosts = Headers(scope=scope).getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            refusal = PlainTextResponse(
                "This inbox does not answer to the address that was asked for. Behind a proxy, "
                "start it with --url and the address under which people reach it.\n",
                status_code=421,
            )
            await refusal(scope, receive, send_guarded)
            return
        await self._app(scope, receive, send_guarded)
