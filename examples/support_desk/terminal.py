"""A person at the terminal decides, unless somebody does so on the web in the meantime."""

import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import replace

from rich.console import Console
from rich.text import Text

from temperance import ApprovalRecord, CapabilityError

from .desk import Desk
from .premises import Ruling
from .shift_lead import Minutes, ShiftLead

POLL_SECONDS = 0.5


class Person:
    """Asks whoever sits at the terminal, one question at a time.

    Args:
        console: Where it is shown.
        link: The web page of an approval.
        desk: The question comes once all else is done there, so that it stays in sight.
    """

    def __init__(self, console: Console, link: Callable[[str], str], desk: Desk) -> None:
        self._console = console
        self._link = link
        self._desk = desk
        self._turn = asyncio.Lock()

    async def __call__(self, lead: ShiftLead, minutes: Minutes) -> None:
        """Returns once it is decided, here or elsewhere, or has expired."""
        await self._desk.all_put_aside.wait()
        async with self._turn:
            over = asyncio.create_task(_until_over(lead, minutes.record.id))
            asking = asyncio.create_task(self._ask(lead, minutes))
            try:
                await asyncio.wait({over, asking}, return_when=asyncio.FIRST_COMPLETED)
                if asking.done():
                    record = await asking or await over
                else:
                    self._console.print("decided elsewhere")
                    record = await over
            finally:
                over.cancel()
                asking.cancel()
            lead.conclude(replace(minutes, record=record))
            await self._desk.until_finished(minutes.ticket)

    async def _ask(self, lead: ShiftLead, minutes: Minutes) -> ApprovalRecord | None:
        """Asks until there is a decision; ``None`` where none comes from here."""
        self._show(minutes.ticket, minutes.record)
        while True:
            self._prompt("approve or reject? [a/r] ")
            said = await _line()
            if said is None:
                self._console.print("No more answers come from here; the web page still takes one.")
                return None
            verdict = said.strip().lower()
            if verdict not in {"a", "approve", "r", "reject"}:
                continue
            self._prompt("comment (Enter for none): ")
            comment = (await _line() or "").strip()
            try:
                ruling = Ruling(approve=verdict.startswith("a"), comment=comment)
                return await lead.rule(minutes, ruling, "cli")
            except CapabilityError as error:
                self._console.print(f"Your decision was refused: {error.public_message}")
                if error.code != "INPUT_INVALID":
                    return None

    def _show(self, ticket: str, record: ApprovalRecord) -> None:
        say = self._console.print
        say()
        say(Text(f"{ticket} waits for your decision: {record.description}", "bold"))
        for reason in record.reasons:
            say(Text(f"  because      {reason}"))
        say(Text(f"  asked by     {record.actor}; risk {record.risk}, {record.side_effect}"))
        say(Text(f"  expires      {record.expires_at:%H:%M:%S} UTC"))
        say(Text(f"  would run    {record.capability} with"))
        for line in json.dumps(record.shown, indent=2).splitlines():
            say(Text(f"    {line}"))
        say(Text("Decide here, or in the web inbox:"))
        say(Text(f"  {self._link(record.id)}"), soft_wrap=True)

    def _prompt(self, question: str) -> None:
        self._console.print(question, end="")
        self._console.file.flush()


async def _until_over(lead: ShiftLead, approval: str) -> ApprovalRecord:
    while True:
        record = await lead.approvals.show(approval)
        if record.state != "pending":
            return record
        await asyncio.sleep(POLL_SECONDS)


async def _line() -> str | None:
    """The next line that is typed; ``None`` where none will come any more."""
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[str] = loop.create_future()

    def read() -> None:
        # A terminal gives whole lines.
        if not typed.done():
            typed.set_result(sys.stdin.readline())

    loop.add_reader(sys.stdin, read)
    try:
        return await typed or None
    finally:
        loop.remove_reader(sys.stdin)
