"""`--input JSON|@FILE|-`: the input of an execution, as bytes of JSON."""

import sys
from pathlib import Path

from pydantic_core import from_json

from temperance.cli_exit import CommandFailed, ExitCode


def read_input(given: str) -> bytes:
    """The input of an execution.

    Args:
        given: JSON, ``@`` and the path of a file with JSON, or ``-`` for standard input.

    Returns:
        Bytes of JSON.

    Raises:
        CommandFailed: It cannot be read, or is not JSON; told by its place, never quoted.
    """
    where = "--input"
    try:
        if given == "-":
            where = "standard input"
            data = sys.stdin.buffer.read()
        elif given.startswith("@"):
            where = given[1:]
            data = Path(where).read_bytes()
        else:
            data = given.encode(errors="surrogateescape")
    except OSError as error:
        raise CommandFailed(
            f"the input cannot be read from {where}: {error.strerror}", code=ExitCode.USAGE
        ) from None
    try:
        from_json(data, allow_inf_nan=False)
    except ValueError as error:
        raise CommandFailed(
            f"the input is not JSON ({where}): {error}",
            code=ExitCode.USAGE,
            more=["give JSON, @FILE or -"],
        ) from None
    return data
