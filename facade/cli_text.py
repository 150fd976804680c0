"""How the command line writes: for a terminal, or plainly for a file or a pipe."""

import sys
from collections.abc import Sequence

import click


def is_terminal() -> bool:
    """Whether standard output is a terminal, and a person may be shown colours and boxes."""
    return sys.stdout.isatty()


def examples(*lines: str) -> str:
    """Examples at the end of a command's help, line by line as they are given."""
    head = "Example:" if len(lines) == 1 else "Examples:"
    # The backspace keeps click from filling the lines.
    return "\n".join(["\b", head, *(f"  {line}" for line in lines)])


def seconds(value: float) -> str:
    """A duration: ``250ms``, ``30s``, ``15m``, ``2h``, ``1d``, or with a rest such as ``90s``."""
    if value < 1:
        return f"{value * 1000:g}ms"
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if value >= size and value % size == 0:
            return f"{value / size:g}{unit}"
    return f"{value:g}s"


class ReaderGone(Exception):
    """Raised when nobody reads standard output.

    No OSError, because click ends the program by itself on those.
    """


def write(text: str) -> None:
    """Writes lines to standard output.

    Raises:
        ReaderGone: Nobody reads it.
    """
    try:
        click.echo(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise ReaderGone from None


def print_columns(rows: Sequence[Sequence[str]]) -> None:
    """Prints rows with their columns aligned: nothing cut, nothing coloured."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    write("\n".join(lines))
