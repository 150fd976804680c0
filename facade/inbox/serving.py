"""Serves an inbox until it is asked to stop."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.types import ASGIApp

from temperance.inbox.settings import InboxSettings


class _Server(uvicorn.Server):
    """Leaves the signals to the program around it."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def bind(settings: InboxSettings) -> socket.socket:
    """A socket where the inbox is to listen.

    Raises:
        OSError: It is in use, or not this machine's.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    return socket.create_server((settings.host, settings.port), family=family)


@asynccontextmanager
async def served(inbox: ASGIApp, listening: socket.socket) -> AsyncGenerator[asyncio.Task[None]]:
    """Serves an inbox while the body runs.

    Args:
        inbox: What `make_inbox` made.
        listening: What `bind` gave; closed at the end.

    Yields:
        The task that serves: it ends only where serving fails.
    """
    config = uvicorn.Config(
        inbox,
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        # Who is there is said by the login's own header, and by no other.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=5,
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield serving
    finally:
        server.should_exit = True
        await asyncio.wait({serving})
        listening.close()
