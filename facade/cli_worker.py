"""`temperance worker`: serve an application against a Temporal server."""

import asyncio
from typing import Unpack

import click

from temperance.cli_connection import ConnectionOptions, connect_by, connection_options
from temperance.cli_serving import (
    ServingOptions,
    prepare,
    serve,
    serving_options,
    workflows_of,
)
from temperance.cli_target import load_app
from temperance.cli_text import examples
from temperance.runtime.app import App


class _WorkerOptions(ConnectionOptions, ServingOptions):
    pass


@click.command(
    short_help="Serve an application's capabilities and workflows.",
    epilog=examples("temperance worker shop.app:app --address localhost:7233 --log-format json"),
)
@click.argument("target", metavar="MODULE:APP")
@serving_options
@connection_options
def worker(target: str, **options: Unpack[_WorkerOptions]) -> None:
    """Serve an application's capabilities and workflows, until SIGTERM or Ctrl-C.

    MODULE:APP names a `temperance.App`; modules are also found in the current directory.
    """
    prepare(options)
    app = load_app(target)
    asyncio.run(_work(app, workflows_of(options), options))


async def _work(app: App, workflows: list[type], options: _WorkerOptions) -> None:
    from temperance.plugin import TemperancePlugin

    client = await connect_by(options, plugins=[TemperancePlugin(app)])
    await serve(app, client, workflows, options)
