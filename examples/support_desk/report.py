"""What a person reads: tables on a terminal, the same words as plain lines elsewhere.

Text that a customer wrote is never taken for markup.
"""

import sys
from collections.abc import Iterable, Sequence
from textwrap import fill, indent

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .ledger import Totals
from .records import Effect, TicketRecord
from .stories import Story
from .tickets import Problem, Ticket

PLAIN_WIDTH = 156
"""How wide the lines are where no terminal says it."""

_TEXT_WIDTH = 100

_STYLES: dict[Effect, str] = {"none": "dim", "possible": "yellow", "done": "green"}


def make_console() -> Console:
    """The console of the demo: it writes to standard output."""
    width = None if sys.stdout.isatty() else PLAIN_WIDTH
    return Console(width=width, highlight=False, markup=False, emoji=False, soft_wrap=False)


def show_problems(console: Console, file: str, problems: Sequence[Problem]) -> None:
    """The malformed tickets, by line and reason."""
    if not problems:
        return
    console.print(f"{file}: {len(problems)} malformed, left out:", style="bold")
    for problem in problems:
        console.print(f"  {problem}")


def show_tickets(
    console: Console, tickets: Iterable[Ticket], records: Iterable[TicketRecord]
) -> None:
    """One row for each ticket: what was run, how often it was tried, and what it did."""
    record_of = {record.ticket: record for record in records}
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("ticket", "capabilities run (attempts)", "outcome", "effect"):
        table.add_column(heading, overflow="fold")
    for ticket in tickets:
        record = record_of.get(ticket.id)
        if record is None:
            table.add_row(Text(ticket.id), Text("-"), Text("not finished", "red"), Text("-"))
            continue
        table.add_row(
            Text(record.ticket), Text(_calls(record)), Text(record.outcome), _effects(record)
        )
    if console.is_terminal:
        console.print(table)
    else:
        with console.capture() as captured:
            console.print(table)
        for line in captured.get().splitlines():
            console.print(line.rstrip())
    if any(call.effect == "possible" for record in record_of.values() for call in record.calls):
        console.print("possible: the handler was entered and did not return, so the envelope")
        console.print("cannot rule an effect out. The books below say whether there was one.")
        console.print()


def show_stories(console: Console, stories: Iterable[Story]) -> None:
    """The incidents, and why nothing happened twice."""
    for story in stories:
        console.print(story.title, style="bold" if story.holds else "bold red")
        for line in story.lines:
            console.print(f"  {line}")
        why = fill(f"Why: {story.why}", min(console.width, _TEXT_WIDTH) - 2)
        console.print(indent(why, "  "), style="italic")
        if not story.holds:
            console.print("  THIS IS NOT WHAT WAS PROMISED.", style="bold red")
        console.print()


def show_totals(console: Console, totals: Totals, wrong: Sequence[str]) -> None:
    """Real effects, counted in the databases."""
    console.print("Real effects, counted in the databases", style="bold")
    console.print(f"  refunds in the shop's book     {totals.refunds:4}   {totals.refunded} EUR")
    console.print(f"  charges at the gateway         {totals.charges:4}   {totals.charged} EUR")
    console.print(
        f"  letters sent                   {totals.letters:4}   "
        f"{totals.letters_without_receipt} without a receipt"
    )
    console.print(f"  addresses changed              {totals.addresses_changed:4}")
    console.print(f"  customers erased               {totals.customers_erased:4}")
    for line in wrong:
        console.print(f"  WRONG: {line}", style="bold red")
    if not wrong:
        console.print("  They are what the envelopes say, and nothing else.", style="green")
    console.print()


def _calls(record: TicketRecord) -> str:
    return ", ".join(
        call.capability if call.attempts == 1 else f"{call.capability} ({call.attempts})"
        for call in record.calls
    )


def _effects(record: TicketRecord) -> Text:
    """The effects of the calls that could have one, as the envelopes tell them."""
    names = {
        "orders.refund": "refund",
        "orders.change_address": "address",
        "customers.erase": "erasure",
        "mail.send": "letter",
    }
    parts = [
        Text(f"{names[call.capability]} {call.effect}", _STYLES[call.effect])
        for call in record.calls
        if call.capability in names
    ]
    return Text(", ").join(parts)
