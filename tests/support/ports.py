"""A port that nobody listens on."""

import socket


def free_port() -> int:
    """A port of this machine; somebody may take it, but nobody is told of it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    return port
