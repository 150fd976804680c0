"""`temperance invoke`: one governed execution, as a standalone activity."""

import asyncio
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, Unpack, cast
from uuid import uuid4

import click
from pydantic import ValidationError

from temperance.cli_connection import ConnectionOptions, connect_by, connection_options
from temperance.cli_envelope import as_line, as_text, code_of
from temperance.cli_exit import CommandFailed, ExitCode
from temperance.cli_input import read_input
from temperance.cli_target import load_app
from temperance.cli_text import examples, write
from temperance.runtime.actor import ANONYMOUS, Actor, ActorKind
from temperance.runtime.app import App
from temperance.runtime.envelope import ExecutionResult, Failed
from temperance.runtime.identity import check_identifier
from temperance.runtime.names import SURFACES, Surface

if TYPE_CHECKING:
    from temporalio.client import Client

_PATIENCE_SECONDS: Final = 3.0


class _InvokeOptions(ConnectionOptions):
    app: str
    input: str
    actor: str | None
    surface: Surface
    request_id: str | None
    task_queue: str | None
    as_json: bool


@click.command(
    short_help="Ask for one execution, and print its envelope.",
    epilog=examples(
        "temperance invoke orders.refund --app shop.app:app --actor user:ada \\",
        """    --input '{"order": "o-17", "cents": 1999}'""",
        "temperance invoke orders.refund --app shop.app:app --input @refund.json \\",
        "    --request-id ticket-42 --json",
    ),
)
@click.argument("capability")
@click.option(
    "--app", metavar="MODULE:APP", required=True, help="The application whose capability it is."
)
@click.option(
    "--input",
    metavar="JSON|@FILE|-",
    required=True,
    help="The input: JSON, a file with JSON, or - for standard input.",
)
@click.option(
    "--actor",
    metavar="KIND:ID",
    help="Who asks: user, service or automation, and an id. Nothing checks this: whoever may "
    "connect may claim it.  [default: anonymous]",
)
@click.option(
    "--surface",
    type=click.Choice(SURFACES),
    default="direct",
    show_default=True,
    help="Through which door; the capability must be exposed there.",
)
@click.option(
    "--request-id",
    metavar="ID",
    help="The request's own id: sent twice, it runs once, and both get the same envelope.  "
    "[default: a random one]",
)
@click.option(
    "--task-queue", metavar="NAME", help="Where its workers listen.  [default: the App's]"
)
@click.option("--json", "as_json", is_flag=True, help="Print the envelope as one line of JSON.")
@connection_options
def invoke(capability: str, **options: Unpack[_InvokeOptions]) -> int:
    """Ask for one execution of CAPABILITY, wait, and print its envelope.

    Ends with 0 where it completed, 1 where it failed, 3 where a person must approve, 4 where it
    was cancelled. Ctrl-C stops the waiting, not the execution.
    """
    from temperance.logging import configure_logging

    data = read_input(options["input"])
    actor = _actor(options["actor"])
    if options["request_id"] is not None:
        try:
            check_identifier("request_id", options["request_id"])
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="'--request-id'") from None
    request_id = options["request_id"] or str(uuid4())
    configure_logging("console", "warning")
    app = load_app(options["app"])
    try:
        envelope = asyncio.run(
            _invoke(app, capability, data, actor=actor, request_id=request_id, options=options)
        )
    except KeyboardInterrupt:
        raise CommandFailed(
            "interrupted: an execution that the server has accepted goes on",
            code=ExitCode.INTERRUPTED,
            more=[f"--request-id {request_id} asks for the same one again"],
        ) from None
    write(as_line(envelope) if options["as_json"] else as_text(envelope, request_id))
    if isinstance(envelope, Failed) and envelope.code == "CAPABILITY_NOT_FOUND":
        click.echo(_why_not_found(app, capability, options["surface"]), err=True)
    return code_of(envelope)


def _why_not_found(app: App, capability: str, surface: Surface) -> str:
    """What the answer conceals (G9), for the person who has the application at hand anyway."""
    known = app.governance.registry.get(capability)
    if known is None:
        near = get_close_matches(capability, [entry.id for entry in app.governance.registry], 1)
        guess = f"; did you mean {near[0]}?" if near else "; see `temperance inspect`"
        return f"hint: the application has no {capability}{guess}"
    if surface not in known.expose:
        doors = ", ".join(sorted(known.expose))
        return f"hint: {capability} is exposed to {doors}, not to {surface}: give --surface"
    return f"hint: a policy hides {capability} from this actor"


async def _invoke(
    app: App,
    capability: str,
    data: bytes,
    *,
    actor: Actor,
    request_id: str,
    options: _InvokeOptions,
) -> ExecutionResult[object]:
    from temperance.client import TemperanceClient

    client = await connect_by(options)
    task_queue = options["task_queue"] or app.task_queue
    asking = TemperanceClient(
        client, app, actor=actor, surface=options["surface"], task_queue=task_queue
    )
    hint = asyncio.ensure_future(_hint(client, task_queue))
    try:
        return await asking.invoke(capability, data, request_id=request_id)
    finally:
        hint.cancel()
        await asyncio.wait({hint})


async def _hint(client: "Client", task_queue: str) -> None:
    """Tells a person who waits for nobody."""
    from temporalio.service import RPCError

    from temperance.worker_ready import pollers_of

    await asyncio.sleep(_PATIENCE_SECONDS)
    try:
        waiting = not await pollers_of(client, task_queue)
    except RPCError:
        return
    if waiting:
        click.echo(
            f"still waiting: no worker listens to task queue {task_queue!r}; "
            "start one with `temperance worker`",
            err=True,
        )


def _actor(given: str | None) -> Actor:
    if given is None:
        return ANONYMOUS
    kind, colon, id_ = given.partition(":")
    if not colon:
        raise click.BadParameter("write KIND:ID, such as user:ada", param_hint="'--actor'")
    try:
        return Actor(id=id_, kind=cast(ActorKind, kind))
    except ValidationError as error:
        problem = error.errors(include_input=False)[0]
        raise click.BadParameter(
            f"{problem['loc'][0]}: {problem['msg']}", param_hint="'--actor'"
        ) from None
