"""`temperance approvals list`: page by page from the server, written as it comes."""

import asyncio
import dataclasses
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, Unpack

import click

from temperance.cli_approvals_client import approvals_of, refusals
from temperance.cli_connection import ConnectionOptions, connection_options
from temperance.cli_text import examples, write
from temperance.cli_value import PERSON, age, person
from temperance.printable import printable
from temperance.runtime.actor import Actor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from temperance.approval_listing import ApprovalSummary, Which

_HEAD: Final = (
    *("approval", "asked", "state", "expires", "risk"),
    *("capability", "asked by", "workflow", "decided by"),
)
# What the first batch may not have yet: another age, state or rest of time, and a longer risk.
_WIDEST: Final = ("", "59m 59s ago", "executing", "in 59m 59s", "critical", "", "", "", "")
_BATCH: Final = 100


class _ListOptions(ConnectionOptions):
    which: "Which"
    capability: str | None
    actor: Actor | None
    older_than: timedelta | None
    limit: int | None
    as_json: bool


@click.command(
    "list",
    short_help="List approvals, newest first.",
    epilog=examples(
        "temperance approvals list",
        "temperance approvals list --capability orders.refund --older-than 10m",
        "temperance approvals list --which closed --json | jq -r .decided_by",
    ),
)
@click.option(
    "--which",
    type=click.Choice(("pending", "closed", "all")),
    default="pending",
    show_default=True,
    help="Those that wait or are being executed, those that are over, or all that there are.",
)
@click.option("--capability", metavar="ID", help="Only of this capability.")
@click.option("--actor", metavar=PERSON, callback=person, help="Only asked for by this one.")
@click.option(
    "--older-than",
    metavar="AGE",
    callback=age,
    help="Only asked for at least so long ago: 90s, 10m, 2h, 1d.",
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most so many.")
@click.option("--json", "as_json", is_flag=True, help="One line of JSON for each.")
@connection_options
def list_(**options: Unpack[_ListOptions]) -> None:
    """List approvals, newest first. No worker is needed.

    Neither inputs nor reasons are listed; `temperance approvals show` has them.
    """
    with refusals():
        asyncio.run(_list(options))


async def _list(options: _ListOptions) -> None:
    approvals = await approvals_of(options)
    printer = _Printer(as_json=options["as_json"])
    actor = options["actor"]
    try:
        async for summary in approvals.list(
            options["which"],
            capability=options["capability"],
            actor=None if actor is None else str(actor),
            older_than=options["older_than"],
            limit=options["limit"],
        ):
            printer.add(summary)
    finally:
        # Also where the rest cannot be had.
        printer.flush()
    if not printer.any:
        click.echo(f"no approvals ({options['which']})", err=True)


class _Printer:
    """Writes summaries: JSON at once, columns in batches that share the width of the first."""

    def __init__(self, *, as_json: bool) -> None:
        self.any = False
        self._as_json = as_json
        self._rows: list[Sequence[str]] = []
        self._widths: list[int] | None = None

    def add(self, summary: "ApprovalSummary") -> None:
        self.any = True
        if self._as_json:
            write(_line(summary))
            return
        self._rows.append(_row(summary, datetime.now(UTC)))
        if len(self._rows) == _BATCH:
            self.flush()

    def flush(self) -> None:
        if not self._rows:
            return
        rows: Iterable[Sequence[str]] = self._rows
        if self._widths is None:
            rows = [_HEAD, *self._rows]
            columns = zip(_WIDEST, *rows, strict=True)
            self._widths = [max(map(len, column)) for column in columns]
        write("\n".join(self._aligned(row) for row in rows))
        self._rows = []

    def _aligned(self, row: "Sequence[str]") -> str:
        widths = self._widths or []
        return "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()


def _line(summary: "ApprovalSummary") -> str:
    fields = dataclasses.asdict(summary)
    for name in ("requested_at", "expires_at"):
        fields[name] = fields[name].isoformat()
    return json.dumps(fields, separators=(",", ":"))


def _row(summary: "ApprovalSummary", now: datetime) -> "Sequence[str]":
    from temperance.approval_text import duration, time_left

    waits = summary.state == "pending"
    return (
        summary.id,
        f"{duration(now - summary.requested_at)} ago",
        "executing" if summary.open and summary.state == "approved" else summary.state,
        time_left(summary.expires_at, now) if waits else "-",
        summary.risk,
        printable(summary.capability),
        printable(summary.actor),
        printable(summary.workflow_id or "-"),
        printable(summary.decided_by or "-"),
    )
