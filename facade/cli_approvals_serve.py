"""`temperance approvals serve`: the web inbox, for one person or behind a login."""

import asyncio
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Final, Unpack

import click

from temperance.cli_approvals_client import approvals_of
from temperance.cli_approvals_decide import APPROVER_VARIABLE
from temperance.cli_connection import ConnectionOptions, connection_options
from temperance.cli_exit import CommandFailed, ExitCode
from temperance.cli_text import examples, write
from temperance.cli_value import PERSON, person
from temperance.runtime.actor import Actor

if TYPE_CHECKING:
    from temperance.inbox.settings import InboxSettings

_NEEDED: Final = ("jinja2", "starlette", "uvicorn")


class _ServeOptions(ConnectionOptions):
    person: Actor | None
    approver_header: str | None
    host: str
    port: int
    url: str | None
    remote: bool


@click.command(
    short_help="Serve a web page on which people decide.",
    epilog=examples(
        "temperance approvals serve --as user:ada",
        "temperance approvals serve --approver-header X-Forwarded-User \\",
        "    --url https://approvals.example.com",
    ),
)
@click.option(
    "--as",
    "person",
    metavar=PERSON,
    callback=person,
    envvar=APPROVER_VARIABLE,
    show_envvar=True,
    help="Who decides everything here: for one person, on a machine of their own.",
)
@click.option(
    "--approver-header",
    metavar="NAME",
    help="The request header in which the login in front of the inbox says who is there, as kind "
    "user. It must replace the header on every request, and nothing else may reach the inbox.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Where it listens. Any but this machine's own needs --remote.",
)
@click.option(
    "--port", type=click.IntRange(1, 65535), default=8234, show_default=True, metavar="PORT"
)
@click.option(
    "--url",
    metavar="URL",
    help="The address under which people reach it, behind a proxy; others are refused.",
)
@click.option(
    "--remote",
    is_flag=True,
    help="Let other machines reach it; needs --approver-header and --url.",
)
@connection_options
def serve(**options: Unpack[_ServeOptions]) -> None:
    """Serve a web page on which people decide, until Ctrl-C.

    Either one person decides everything, --as, and the page opens with the link that is printed; or
    the login in front of it says who is there, --approver-header. It needs the extra `inbox`, and a
    worker of the application that runs.
    """
    for name in _NEEDED:
        try:
            import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
            raise CommandFailed(
                f"the inbox needs {name}",
                code=ExitCode.USAGE,
                more=["pip install 'temperance[inbox]'"],
            ) from None
    from temperance.inbox.settings import InboxSettings
    from temperance.runtime.error import ConfigurationError

    # The variable is for all commands; here the header is what was said last.
    given_by_option = click.get_current_context().get_parameter_source("person")
    header, approver = options["approver_header"], options["person"]
    if header is not None and given_by_option is click.core.ParameterSource.ENVIRONMENT:
        approver = None
    try:
        settings = InboxSettings(
            host=options["host"],
            port=options["port"],
            approver=approver,
            approver_header=header,
            url=options["url"],
            remote=options["remote"],
        )
    except ConfigurationError as error:
        raise CommandFailed(
            "the inbox cannot be served so",
            code=ExitCode.USAGE,
            more=[*error.problems, "`temperance approvals serve --help` says more"],
        ) from None
    asyncio.run(_serve(settings, options))


async def _serve(settings: "InboxSettings", options: ConnectionOptions) -> None:
    from temperance.inbox.serving import bind, served
    from temperance.inbox.session import Sessions
    from temperance.inbox.site import make_inbox
    from temperance.signals import stop_on_signal

    sessions = Sessions()
    inbox = make_inbox(await approvals_of(options), settings, sessions)
    try:
        listening = bind(settings)
    except OSError as error:
        raise CommandFailed(
            f"cannot listen on {settings.host}:{settings.port}: {error.strerror}",
            code=ExitCode.USAGE,
            more=["choose another with --port or --host"],
        ) from None
    stop = asyncio.Event()
    with stop_on_signal(stop):
        async with served(inbox, listening) as serving:
            _greet(settings, sessions.key)
            asked = asyncio.ensure_future(stop.wait())
            await asyncio.wait({asked, serving}, return_when=asyncio.FIRST_COMPLETED)
            asked.cancel()
            if serving.done():
                await serving


def _greet(settings: "InboxSettings", key: str) -> None:
    if settings.approver is not None:
        write(f"inbox       {settings.link}?key={key}\ndecides as  {settings.approver}")
    else:
        write(f"inbox       {settings.link}\ndecides as  whom {settings.approver_header} names")
    write("stop        Ctrl-C")
    sys.stdout.flush()
