"""The demo from the opening of the desk to the count of what really happened."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from temperance import Approvals, TemperancePlugin
from temperance.embedded import EmbeddedServer

from . import report
from .app import app
from .desk import Desk, workflow_id
from .ledger import count, discrepancies, expected_totals
from .premises import Premises, Stock, bundled_stock, bundled_tickets
from .progress import Display
from .shift_lead import Minutes, Script, ShiftLead
from .staff import Staff
from .stories import Scene, Story, stories
from .stories_of_approvals import approval_stories
from .terminal import Person
from .tickets import Inbox, read_inbox
from .watch import Watch
from .web import open_inbox


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says."""

    tickets: Path
    home: Path
    keep: bool
    ask: bool = False


async def run(options: Options, console: Console) -> bool:
    """Runs the demo.

    Returns:
        Whether every effect is what it should be.

    Raises:
        OSError: the tickets cannot be read.
        temperance.embedded.EmbeddedServerError: the server does not start.
        ExceptionGroup: a worker ended by itself.
    """
    inbox = read_inbox(options.tickets)
    if not inbox.tickets:
        report.show_problems(console, options.tickets.name, inbox.problems)
        console.print(f"{options.tickets.name} has no ticket to work on.", style="bold red")
        return False
    premises, stock = Premises(options.home), bundled_stock()
    premises.create(stock)
    console.print(f"{options.tickets.name}: {len(inbox.tickets)} good tickets", style="bold")
    report.show_problems(console, options.tickets.name, inbox.problems)
    store, log = options.home / "temporal.db", options.home / "temporal.log"
    async with EmbeddedServer(db_path=store, log_path=log) as server:
        console.print(f"Temporal server at {server.target_host}, UI at {server.ui_url}")
        console.print()
        client = await server.connect(plugins=[TemperancePlugin(app)])
        async with Staff(options.home, server.target_host) as staff:
            scene = Scene(premises, {t.id: t for t in inbox.tickets}, {}, staff.names)
            approvals = Approvals(client)
            with Display(console, len(inbox.tickets), bar=not options.ask) as display:
                watch = Watch(scene, stock.incidents, display.tell)
                desk = Desk(client, staff, scene, stock.incidents, display, watch)
                async with _decider(options, console, desk, stock, approvals) as decide:
                    lead = ShiftLead(approvals, decide, desk.put_aside, display.tell)
                    async with _meanwhile(watch.keep(), lead.keep()):
                        await desk.work(inbox.tickets)
                        await lead.settled()
            told = stories(scene, stock.incidents, [worker.pid for worker in desk.killed])
            told += approval_stories(scene, lead.minutes.values(), desk.killed)
            right = _conclude(console, options, scene, inbox, told)
            if options.keep:
                _look_on(console, options, server, desk, told)
                with suppress(asyncio.CancelledError):
                    await server.wait()
                console.print()
    console.print("Server and workers are stopped.")
    if not options.keep:
        console.print("To look on in the Temporal UI let them run: make demo ARGS=--keep")
    return right


@asynccontextmanager
async def _decider(
    options: Options, console: Console, desk: Desk, stock: Stock, approvals: Approvals
) -> AsyncGenerator[Callable[[ShiftLead, Minutes], Awaitable[None]]]:
    """Who decides: the script, or a person with a terminal and a web page."""
    if not options.ask:
        yield Script(stock.decisions, desk.after_the_kill)
        return
    async with open_inbox(approvals) as link:
        yield Person(console, link, desk)


@asynccontextmanager
async def _meanwhile(*others: Coroutine[None, None, None]) -> AsyncGenerator[None]:
    """Others go on while the body does; they end with it, and it ends where one of them fails."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(other) for other in others]
        yield
        for task in tasks:
            task.cancel()


def _conclude(
    console: Console, options: Options, scene: Scene, inbox: Inbox, told: tuple[Story, ...]
) -> bool:
    """Shows the tables, and tells whether every effect is what it should be."""
    bundled = options.tickets == bundled_tickets()
    earlier = [refund.key for refund in bundled_stock().earlier_refunds]
    books = count(scene.premises, earlier)
    # What a person decides is not known beforehand.
    expected = expected_totals() if bundled and not options.ask else None
    wrong = [*discrepancies(books, scene.records.values(), expected)]
    unfinished = [t.id for t in inbox.tickets if t.id not in scene.records]
    wrong += [f"{ticket}: its workflow did not finish" for ticket in unfinished]
    wrong += [f"{story.ticket}: not what was promised" for story in told if not story.holds]
    if bundled and len(told) < len(bundled_stock().incidents.kill_a_worker_during) + 3:
        wrong.append("not every incident happened")
    console.print()
    report.show_tickets(console, inbox.tickets, scene.records.values())
    report.show_stories(console, told)
    report.show_totals(console, books.totals, wrong)
    return not wrong


def _look_on(
    console: Console,
    options: Options,
    server: EmbeddedServer,
    desk: Desk,
    told: tuple[Story, ...],
) -> None:
    """Says where to see more."""
    victims = [ticket for ticket in desk.incidents.kill_a_worker_during if ticket in desk.runs]
    ticket = next(iter([*victims, *(story.ticket for story in told), *desk.runs]))
    console.print("The desk stays open until you press Ctrl-C.", style="bold")
    console.print(f"  Temporal UI         {server.ui_url}")
    page = f"{workflow_id(ticket)}/{desk.runs[ticket]}/history"
    link = f"{server.ui_url}/namespaces/{server.namespace}/workflows/{page}"
    console.print(f"  worth a look        {link}", soft_wrap=True)
    console.print(f"  databases and logs  {options.home}", soft_wrap=True)
    where = f"--address {server.target_host}"
    console.print(f"  in another terminal temporal workflow list {where}", soft_wrap=True)
    console.print(
        f"  who decided         temperance approvals list --which closed {where}", soft_wrap=True
    )
