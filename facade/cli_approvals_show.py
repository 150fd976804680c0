"""`temperance approvals show`: all that an approver has to know."""

import asyncio
import json
from datetime import UTC, datetime
from textwrap import indent
from typing import TYPE_CHECKING, Unpack

import click

from temperance.cli_approvals_client import (
    AnswerOptions,
    answer_options,
    approvals_of,
    refusals,
)
from temperance.cli_text import examples, write
from temperance.printable import printable

if TYPE_CHECKING:
    from pydantic import JsonValue

    from temperance.runtime.approval import ApprovalRecord
    from temperance.runtime.envelope import ExecutionResult


class _ShowOptions(AnswerOptions):
    as_json: bool


@click.command(
    short_help="Show one approval: what would run, and why a person is asked.",
    epilog=examples("temperance approvals show approval-5d0c6f2e-7b1a-5c39-9f0e-3a51d2b7c4e8"),
)
@click.argument("approval")
@click.option("--json", "as_json", is_flag=True, help="Record and outcome as one line of JSON.")
@answer_options
def show(approval: str, **options: Unpack[_ShowOptions]) -> None:
    """Show one approval: what would run, why a person is asked, who decided.

    A worker of the application answers. The input is shown as `redact.approval_input` has it; the
    approval binds the whole of it. Once it is over, this also shows what came of it.
    """
    with refusals():
        record, outcome = asyncio.run(_show(approval, options))
    if options["as_json"]:
        write(json.dumps({"record": record.model_dump(mode="json"), "outcome": _told(outcome)}))
    else:
        write(text_of(record, outcome))


def _told(outcome: "ExecutionResult[object] | None") -> "dict[str, JsonValue] | None":
    """An envelope without its output: that is for whoever asked."""
    if outcome is None:
        return None
    return {name: value for name, value in outcome.to_dict().items() if name != "output"}


async def _show(
    approval: str, options: _ShowOptions
) -> "tuple[ApprovalRecord, ExecutionResult[object] | None]":
    from temperance.runtime.error import CapabilityError

    approvals = await approvals_of(options, options["timeout"])
    record = await approvals.show(approval)
    try:
        return record, await approvals.outcome_so_far(approval)
    except CapabilityError:
        # An operator ended it.
        return record, None


def text_of(record: "ApprovalRecord", outcome: "ExecutionResult[object] | None" = None) -> str:
    """An approval for a person.

    Args:
        record: Its record.
        outcome: What came of it, where it is over.
    """
    from temperance.approval_text import (
        EFFECTS,
        SIDE_EFFECTS,
        STATES,
        SURFACES,
        as_json,
        instant,
        time_left,
    )

    now = datetime.now(UTC)
    left = f" ({time_left(record.expires_at, now)})" if record.state == "pending" else ""
    rows = [
        ("state", f"{record.state}: {STATES[record.state]}"),
        ("capability", f"{record.capability}: {record.description}"),
        ("asked by", f"{record.actor}, {SURFACES[record.surface]}"),
        ("workflow", record.workflow_id or "-"),
        ("because", *record.reasons),
        ("approver", ", ".join(record.types) or "anybody but who asked"),
        ("risk", f"{record.risk}; {record.side_effect}: {SIDE_EFFECTS[record.side_effect]}"),
        ("asked at", instant(record.requested_at)),
        ("expires", f"{instant(record.expires_at)}{left}"),
    ]
    decision = record.decision
    if decision is not None:
        who = f"{decision.by} ({decision.source})"
        rows += [("decided by", who), ("decided at", instant(decision.at))]
        rows += [("comment", decision.comment)] if decision.comment else []
    if outcome is not None:
        rows.append(("outcome", f"{outcome.status}; {EFFECTS[outcome.effect]}"))
    lines = [record.id]
    for name, *values in rows:
        lines += [f"{label:<11} {value}" for label, value in _labelled(name, values)]
    lines += [f"input       sha256 {record.input_hash}"]
    return printable("\n".join(lines)) + "\n" + indent(as_json(record.shown), "  ")


def _labelled(name: str, values: list[str]) -> list[tuple[str, str]]:
    lines = [line for value in values for line in value.splitlines() or [""]]
    return [(name if number == 0 else "", line) for number, line in enumerate(lines)]
