"""The web inbox for the person who plays the shift lead."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial

from temperance import Approvals
from temperance.inbox.serving import bind, served
from temperance.inbox.session import Sessions
from temperance.inbox.settings import InboxSettings
from temperance.inbox.site import make_inbox

from .shift_lead import SHIFT_LEAD

PORTS = range(8234, 8264)
"""Where it listens: at the first that is free."""


@asynccontextmanager
async def open_inbox(approvals: Approvals) -> AsyncGenerator[Callable[[str], str]]:
    """Serves the inbox, on this machine only.

    Yields:
        Gives the link of an approval.

    Raises:
        OSError: No port is free.
    """
    sessions = Sessions()
    for port in PORTS:
        settings = InboxSettings(port=port, approver=SHIFT_LEAD)
        try:
            listening = bind(settings)
        except OSError:
            if port == PORTS[-1]:
                raise
            continue
        async with served(make_inbox(approvals, settings, sessions), listening):
            yield partial(_link, settings.link, sessions.key)
        return


def _link(inbox: str, key: str, approval: str) -> str:
    return f"{inbox}approvals/{approval}?key={key}"
