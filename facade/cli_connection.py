"""The options that say which Temporal server is meant; see `temperance.connection.connect`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import click

if TYPE_CHECKING:
    from temporalio.client import Client, Plugin

Command = Callable[..., Any]  # click calls it with what its options come to


class ConnectionOptions(TypedDict):
    """What the options come to: arguments of `temperance.connection.connect`."""

    profile: str | None
    config_file: Path | None
    address: str | None
    namespace: str | None
    tls: bool | None


async def connect_by(options: ConnectionOptions, *, plugins: "Sequence[Plugin]" = ()) -> "Client":
    """Connects as the options say; what the SDK's core logs goes into this process's log.

    Raises:
        ConnectionFailed: There is no connection.
        temporalio.service.RPCError: The namespace is not there, or not for this client.
    """
    from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest

    from temperance.connection import connect
    from temperance.logging import logging_runtime

    client = await connect(
        profile=options["profile"],
        config_file=options["config_file"],
        address=options["address"],
        namespace=options["namespace"],
        tls=options["tls"],
        plugins=plugins,
        runtime=logging_runtime(),
    )
    # Asked here, so that a wrong name is told before anything is started.
    await client.workflow_service.describe_namespace(
        DescribeNamespaceRequest(namespace=client.namespace)
    )
    return client


def connection_options(command: Command) -> Command:
    """Gives a command the options of `ConnectionOptions`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS: tuple[Callable[[Command], Command], ...] = (
    click.option(
        "--profile",
        metavar="NAME",
        help="Profile in Temporal's configuration file.  [default: TEMPORAL_PROFILE, or `default`]",
    ),
    click.option(
        "--config-file",
        type=click.Path(path_type=Path),
        help="That file.  [default: TEMPORAL_CONFIG_FILE, or Temporal's usual place]",
    ),
    click.option(
        "--address",
        metavar="HOST:PORT",
        help="The server, over profile and TEMPORAL_ADDRESS.  [default: localhost:7233]",
    ),
    click.option(
        "--namespace",
        metavar="NAME",
        help="Over profile and TEMPORAL_NAMESPACE.  [default: `default`]",
    ),
    click.option(
        "--tls/--no-tls",
        default=None,
        help="Over profile and TEMPORAL_TLS. An API key has no option, because other users of the "
        "machine could read it: set TEMPORAL_API_KEY, or keep it in the profile.",
    ),
)
