"""What `temperance worker` and `dev` have in common: the options of a worker, and its run."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import click

from temperance.cli_exit import CommandFailed, ExitCode
from temperance.cli_target import load_workflow
from temperance.runtime.app import App

if TYPE_CHECKING:
    from asyncio import Event

    from temporalio.client import Client

    from temperance.logging import LogFormat, LogLevel

Command = Callable[..., Any]  # click calls it with what its options come to

LOG_FORMATS = ("auto", "json", "console")
LOG_LEVELS = ("debug", "info", "warning", "error")


class ServingOptions(TypedDict):
    """What the options come to."""

    task_queue: str | None
    workflow: tuple[str, ...]
    max_concurrent_activities: int | None
    grace: float
    ready_file: Path | None
    log_format: "LogFormat"
    log_level: "LogLevel"


def serving_options(command: Command) -> Command:
    """Gives a command the options of `ServingOptions`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def prepare(options: ServingOptions) -> None:
    """What comes before the application is imported, and may log, or take its time."""
    from temperance.logging import configure_logging

    configure_logging(options["log_format"], options["log_level"])
    if options["ready_file"] is not None:
        # Of an earlier worker, say one that was killed.
        options["ready_file"].unlink(missing_ok=True)


async def serve(
    app: App,
    client: "Client",
    workflows: list[type],
    options: ServingOptions,
    *,
    stop: "Event | None" = None,
) -> None:
    """Runs the worker until it is asked to stop: by the event, or where there is none by a signal.

    Raises:
        ConfigurationError: The application cannot be served.
        CommandFailed: The ready file cannot be written.
    """
    from temperance.worker import run_worker

    try:
        await run_worker(
            app,
            client,
            task_queue=options["task_queue"],
            workflows=workflows,
            max_concurrent_activities=options["max_concurrent_activities"],
            grace=timedelta(seconds=options["grace"]),
            ready_file=options["ready_file"],
            stop=stop,
            signals=stop is None,
        )
    except ValueError as error:
        # The SDK's own words, say of two workflows of one name.
        raise CommandFailed(
            "the worker cannot be made", code=ExitCode.NOT_SERVABLE, more=[str(error)]
        ) from None
    except OSError as error:
        if options["ready_file"] is None or error.filename is None:
            raise
        raise CommandFailed(
            f"the ready file cannot be written: {error.strerror}: {error.filename}",
            code=ExitCode.USAGE,
        ) from None


def workflows_of(options: ServingOptions) -> list[type]:
    """The workflow classes that ``--workflow`` names.

    Raises:
        CommandFailed: One of them is none.
    """
    return [load_workflow(target) for target in options["workflow"]]


_OPTIONS: tuple[Callable[[Command], Command], ...] = (
    click.option(
        "--task-queue", metavar="NAME", help="Where it listens.  [default: the App's task queue]"
    ),
    click.option(
        "--workflow",
        metavar="MODULE:CLASS",
        multiple=True,
        help="Serve this workflow too, beside those of the App. May be repeated.",
    ),
    click.option(
        "--max-concurrent-activities",
        type=click.IntRange(min=1),
        metavar="N",
        help="Most attempts at a time.  [default: 100]",
    ),
    click.option(
        "--grace",
        type=click.FloatRange(min=0, min_open=True),
        default=10.0,
        show_default=True,
        metavar="SECONDS",
        help="How long running attempts may go on after SIGTERM or Ctrl-C, before they are "
        "cancelled. A second signal ends the process at once.",
    ),
    click.option(
        "--ready-file",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="PATH",
        help="Write this JSON file when the server has seen the worker ask for work; remove it "
        "when the worker begins to stop.",
    ),
    click.option(
        "--log-format",
        type=click.Choice(LOG_FORMATS),
        default="auto",
        show_default=True,
        help="Lines of JSON, or for a person; auto asks whether standard error is a terminal.",
    ),
    click.option(
        "--log-level",
        type=click.Choice(LOG_LEVELS),
        default="info",
        show_default=True,
        help="Audit events are logged at info.",
    ),
)
