"""`temperance approvals approve`, `reject` and `cancel`: one decision of one person."""

import asyncio
from typing import TYPE_CHECKING, Final, Literal, TypedDict, Unpack

import click

from temperance.cli_approvals_client import (
    AnswerOptions,
    answer_options,
    approvals_of,
    refusals,
)
from temperance.cli_connection import Command
from temperance.cli_text import examples, write
from temperance.cli_value import PERSON, person
from temperance.printable import printable
from temperance.runtime.actor import Actor
from temperance.runtime.approval import MAX_COMMENT

if TYPE_CHECKING:
    from temperance.runtime.approval import ApprovalRecord

_Verdict = Literal["approve", "reject", "cancel"]

APPROVER_VARIABLE: Final = "TEMPERANCE_APPROVER"
"""The environment variable that names the approver where no option does."""


class _Decision(TypedDict):
    person: Actor
    comment: str | None
    as_json: bool


class _DecideOptions(AnswerOptions, _Decision):
    pass


def _check_length(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None and len(value) > MAX_COMMENT:
        raise click.BadParameter(
            f"{len(value)} characters, at most {MAX_COMMENT}", ctx=ctx, param=param
        )
    return value


def _decision_options(command: Command) -> Command:
    command = answer_options(command)
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS: Final = (
    click.argument("approval"),
    click.option(
        "--as",
        "person",
        metavar=PERSON,
        callback=person,
        envvar=APPROVER_VARIABLE,
        show_envvar=True,
        required=True,
        help="Who decides: user, service or automation, and an id, spelled as the application "
        "spells it. Nothing checks this: whoever may connect may claim it.",
    ),
    click.option("--comment", metavar="TEXT", callback=_check_length, help="Kept in the record."),
    click.option("--json", "as_json", is_flag=True, help="Print the record as one line of JSON."),
)


@click.command(
    short_help="Approve: it is executed, once.",
    epilog=examples(
        "temperance approvals approve APPROVAL --as user:ada --comment 'Seen the photos.'",
        "TEMPERANCE_APPROVER=user:ada temperance approvals approve APPROVAL",
    ),
)
@_decision_options
def approve(approval: str, **options: Unpack[_DecideOptions]) -> None:
    """Approve: what was asked for is executed, once.

    Ends with 0 where this decision counts, 1 where it was refused, 7 where no worker answered.
    Sent again by the same approver it is the same decision.
    """
    _decide(approval, "approve", options)


@click.command(
    short_help="Reject: nothing is run.",
    epilog=examples("temperance approvals reject APPROVAL --as user:ada --comment 'No receipt.'"),
)
@_decision_options
def reject(approval: str, **options: Unpack[_DecideOptions]) -> None:
    """Reject: nothing is run. Ends as `temperance approvals approve` does."""
    _decide(approval, "reject", options)


@click.command(
    short_help="Withdraw the request: nothing is run.",
    epilog=examples("temperance approvals cancel APPROVAL --as automation:support-desk"),
)
@_decision_options
def cancel(approval: str, **options: Unpack[_DecideOptions]) -> None:
    """Withdraw the request: nothing is run. Whoever asked may do so, or who may decide.

    Ends as `temperance approvals approve` does.
    """
    _decide(approval, "cancel", options)


def _decide(approval: str, verdict: _Verdict, options: _DecideOptions) -> None:
    with refusals():
        record = asyncio.run(_send(approval, verdict, options))
    write(record.model_dump_json() if options["as_json"] else _text(record))


async def _send(approval: str, verdict: _Verdict, options: _DecideOptions) -> "ApprovalRecord":
    approvals = await approvals_of(options, options["timeout"])
    person, comment = options["person"], options["comment"]
    if verdict == "cancel":
        return await approvals.cancel(approval, by=person, comment=comment, source="cli")
    decide = approvals.approve if verdict == "approve" else approvals.reject
    return await decide(approval, approver=person, comment=comment, source="cli")


def _text(record: "ApprovalRecord") -> str:
    decision = record.decision
    by = "" if decision is None else f" by {decision.by}"
    lines = [f"{record.state}{by}  {record.capability} for {record.actor}"]
    if record.state == "approved":
        lines.append(f"what comes of it: temperance approvals show {record.id}")
    return printable("\n".join(lines))
