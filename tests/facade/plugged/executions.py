"""Counts how often modules are executed, in a file that the environment names."""

import os
from typing import Final

VARIABLE: Final = "PLUGGED_EXECUTIONS"


def note_execution(module: str) -> None:
    """Append a line, if anybody counts."""
    path = os.environ.get(VARIABLE)
    if path is not None:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, f"{module}\n".encode())
        os.close(descriptor)
