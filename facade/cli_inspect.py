"""`temperance inspect`: what an application governs, as a table or as JSON."""

import json
from typing import TYPE_CHECKING

import click

from temperance.cli_target import load_app
from temperance.cli_text import examples, is_terminal, print_columns, seconds, write

if TYPE_CHECKING:
    from temperance.inspection import AppSeen, CapabilitySeen, DecidingSeen

_COLUMNS = (
    "capability",
    "side effect",
    "risk",
    "exposed to",
    "attempts",
    "timeout",
    "backstop",
    "approval",
)


@click.command(
    short_help="Show what an application governs.",
    epilog=examples(
        "temperance inspect shop.app:app",
        "temperance inspect shop.app:app --json | jq '.capabilities[].retry'",
    ),
)
@click.argument("target", metavar="MODULE:APP")
@click.option("--json", "as_json", is_flag=True, help="All of it, as JSON that two runs agree on.")
def inspect(target: str, as_json: bool) -> None:
    """Show what MODULE:APP governs, and what its metadata comes to on Temporal.

    `timeout` bounds an attempt; `backstop` is when the server gives up on a worker that died. No
    server is asked. Where a worker would refuse to serve the application, this says why, and
    ends with 6.
    """
    from temperance.completeness import problems_of_app
    from temperance.inspection import inspect_app
    from temperance.runtime.error import ConfigurationError

    app = load_app(target)
    problems = problems_of_app(app)
    if problems:
        raise ConfigurationError(problems)
    seen = inspect_app(app)
    if as_json:
        write(json.dumps(seen, indent=2, ensure_ascii=False))
    else:
        _print(seen)


def _print(seen: "AppSeen") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = [_row(entry) for entry in seen["capabilities"]]
    if is_terminal():
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for name in _COLUMNS:
            table.add_column(
                name, no_wrap=name in {"capability", "side effect", "risk"}, overflow="fold"
            )
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        Console(highlight=False).print(table)
    else:
        print_columns([_COLUMNS, *rows])
    write(f"{_deciding(seen['deciding'])}\n{_closing(seen)}")


def _row(entry: "CapabilitySeen") -> tuple[str, ...]:
    side_effect = entry["side_effect"] + (", idempotent" if entry["idempotent"] else "")
    return (
        entry["id"],
        side_effect,
        entry["risk"],
        " ".join(entry["expose"]),
        _attempts(entry),
        _timeout(entry),
        _backstop(entry),
        _approval(entry),
    )


def _attempts(entry: "CapabilitySeen") -> str:
    retry = entry["retry"]
    where = ", local" if entry["placement"] == "local" else ""
    reconcile = entry["reconcile"]
    if reconcile is not None:
        where += ", then again" if reconcile["run_again"] else ", then asked about"
    if retry["maximum_attempts"] == 1:
        return f"1{where}"
    first, longest = seconds(retry["initial_interval"]), seconds(retry["maximum_interval"])
    return f"{retry['maximum_attempts']}, after {first} to {longest}{where}"


def _timeout(entry: "CapabilitySeen") -> str:
    attempt, queue = entry["timeouts"]["attempt"], entry["timeouts"]["schedule_to_start"]
    return seconds(attempt) if queue is None else f"{seconds(attempt)}, queue {seconds(queue)}"


def _backstop(entry: "CapabilitySeen") -> str:
    server, heartbeat = entry["timeouts"]["start_to_close"], entry["timeouts"]["heartbeat"]
    return seconds(server) if heartbeat is None else f"{seconds(server)}, beat {seconds(heartbeat)}"


def _approval(entry: "CapabilitySeen") -> str:
    approval = entry["approval"]
    if approval is None or not approval["required"]:
        return "-"
    return f"{approval['type'] or 'anyone'}, within {seconds(approval['expires_in'])}"


def _deciding(rules: "DecidingSeen") -> str:
    if rules["reject_self_approval"]:
        said = "approvals: whoever asked may not decide"
    else:
        said = f"approvals: WHOEVER ASKED MAY DECIDE TOO, because: {rules['self_approval_reason']}"
    hook = rules["may_approve"]
    return f"{said}; {hook} says who else may not" if hook else said


def _closing(seen: "AppSeen") -> str:
    count = len(seen["capabilities"])
    said = f"{count} {'capability' if count == 1 else 'capabilities'}"
    if seen["workflows"]:
        said += f", workflows {', '.join(seen['workflows'])}"
    return f"{said}, task queue {seen['task_queue']}"
