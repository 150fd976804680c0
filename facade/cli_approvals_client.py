"""The approvals of the server that the options name, and what is said where one is refused."""

import dataclasses
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from temperance.cli_connection import Command, ConnectionOptions, connect_by, connection_options
from temperance.cli_exit import CommandFailed, ExitCode
from temperance.printable import printable

if TYPE_CHECKING:
    from temporalio.client import Client

    from temperance.approvals import Approvals


class AnswerOptions(ConnectionOptions):
    """What the options come to of a command that asks a worker."""

    timeout: float


def answer_options(command: Command) -> Command:
    """Gives a command the options of `AnswerOptions`."""
    return click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True, max=3600),
        default=20.0,
        show_default=True,
        metavar="SECONDS",
        help="How long to wait for a worker to answer.",
    )(connection_options(command))


async def approvals_of(options: ConnectionOptions, timeout: float = 20.0) -> "Approvals":
    """The approvals of a namespace; no application is needed.

    Args:
        options: Which.
        timeout: How long a worker may take to answer, in seconds.

    Raises:
        ConnectionFailed: There is no connection.
        temporalio.service.RPCError: The namespace is not there, or not for this client.
    """
    from temperance.approvals import Approvals
    from temperance.logging import configure_logging

    configure_logging("console", "error")
    return Approvals(_with_pydantic(await connect_by(options)), timeout=timedelta(seconds=timeout))


def _with_pydantic(client: "Client") -> "Client":
    from temporalio.client import Client
    from temporalio.contrib.pydantic import PydanticPayloadConverter

    config = client.config()
    config["data_converter"] = dataclasses.replace(
        config["data_converter"], payload_converter_class=PydanticPayloadConverter
    )
    return Client(**config)


@contextmanager
def refusals() -> Generator[None]:
    """Tells why an approval cannot be shown or decided, by its code.

    Raises:
        CommandFailed: It cannot; with 7 where no worker answered, else with 1.
    """
    from temperance.approval_text import REFUSALS
    from temperance.runtime.error import CapabilityError

    try:
        yield
    except CapabilityError as error:
        code = ExitCode.UNANSWERED if error.code == "TIMEOUT" else ExitCode.FAILED
        more = [REFUSALS[error.code]] if error.code in REFUSALS else []
        raise CommandFailed(
            f"{error.code}: {printable(error.public_message)}", code=code, more=more
        ) from None
