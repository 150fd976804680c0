"""The command line of the demo: `python -m support_desk`, or `make demo`."""

import asyncio
import signal
import sqlite3
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import click
from rich.console import Console

from temperance.embedded import EmbeddedServerError

from .demo import Options, run
from .premises import Premises, bundled_tickets
from .report import make_console
from .staff import WorkerEndedError

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--tickets",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Another file of tickets, as JSON lines. The shop's customers and orders stay the same.",
)
@click.option(
    "--home",
    type=click.Path(file_okay=False, path_type=Path),
    help="A new folder for the databases and logs. Left out: a temporary one, removed at the end.",
)
@click.option("--keep", is_flag=True, help="Leave server and worker running until Ctrl-C.")
@click.option(
    "--ask",
    is_flag=True,
    help="You are the shift lead: decide what the agent may not do alone, here or on a web page.",
)
def main(tickets: Path | None, home: Path | None, keep: bool, ask: bool) -> None:
    """Answer support tickets with a scripted agent, governed by temperance on Temporal.

    Starts a Temporal server and worker processes, runs a workflow for each ticket, and counts what
    really happened. On the way a payment times out, a read fails twice, a worker is killed, and a
    refund over the limit waits for a person.

    Exit code: 0 when every effect is what it should be, 1 when not, 2 when the command line is
    wrong, 130 after Ctrl-C.
    """
    if ask and not sys.stdin.isatty():
        raise click.UsageError(
            "--ask waits for a person, and standard input is no terminal. Run it in one, or leave "
            "--ask out: then the demo decides as its data says"
        )
    with TemporaryDirectory(prefix="support-desk-") as temporary:
        folder = Path(temporary) if home is None else home.absolute()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise click.UsageError(f"{folder} cannot be made: {error.strerror}") from error
        if Premises(folder).taken:
            raise click.UsageError(
                f"{folder} already holds a support desk; name another folder, or remove this one"
            )
        sys.exit(_run(Options(tickets or bundled_tickets(), folder, keep, ask)))


def _run(options: Options) -> int:
    console = make_console()
    try:
        return 0 if asyncio.run(_work(options, console)) else 1
    except (KeyboardInterrupt, asyncio.CancelledError):
        console.print("Stopped: server and workers are gone.")
        return INTERRUPTED
    except (EmbeddedServerError, OSError, sqlite3.OperationalError) as error:
        raise click.ClickException(str(error)) from error
    except ExceptionGroup as group:
        ended = group.subgroup(WorkerEndedError)
        if ended is None:
            raise
        raise click.ClickException(str(_first(ended))) from group


def _first(error: Exception) -> Exception:
    """The first exception in a group of groups."""
    while isinstance(error, ExceptionGroup):
        error = cast(Exception, error.exceptions[0])
    return error


async def _work(options: Options, console: Console) -> bool:
    """Runs the demo; SIGTERM, and a terminal that is closed, end it as Ctrl-C does."""
    task = asyncio.ensure_future(run(options, console))
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    return await task


if __name__ == "__main__":
    main()
