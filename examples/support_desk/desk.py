"""The desk at work: one workflow for each ticket, and one worker that is killed on the way."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from temporalio.client import Client, WorkflowFailureError

from .app import TASK_QUEUE
from .premises import Incidents
from .progress import Display
from .staff import Staff, Worker
from .stories import Scene
from .tickets import Ticket
from .watch import Watch
from .workflow import SupportTicket

AT_ONCE = 4
"""How many tickets are worked on at a time."""

IN_FLIGHT_SECONDS = 20.0
"""How long a write may take to begin during which the worker is to be killed."""


def workflow_id(ticket: str) -> str:
    return f"support-{ticket}"


@dataclass
class Desk:
    """Runs the tickets in the order of the file; those of one order strictly one after another.

    What becomes of them is written into the records of the scene.
    """

    client: Client
    staff: Staff
    scene: Scene
    incidents: Incidents
    display: Display
    watch: Watch
    killed: list[Worker] = field(default_factory=list[Worker])
    runs: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def work(self, tickets: Sequence[Ticket]) -> None:
        """Works on all tickets."""
        victims = [t for t in tickets if t.id in self.incidents.kill_a_worker_during]
        cut = tickets.index(victims[0]) if victims else len(tickets)
        before, after = tickets[:cut], [t for t in tickets[cut:] if t not in victims]
        worker = await self.staff.hire()
        self.display.tell(f"{worker.name} started (pid {worker.pid})")
        async with asyncio.TaskGroup() as group:
            watched = [group.create_task(worker.until_it_ends())]
            await asyncio.gather(*(self._take(t) for t in before))
            pending: list[asyncio.Task[None]] = []
            # The refund last: its attempt has the shorter time to be killed in.
            for ticket in sorted(victims, key=lambda t: t.topic == "refund"):
                pending.append(group.create_task(self._take(ticket)))
                await self._until_it_writes(ticket)
            if victims and all(map(self._is_writing, victims)):
                replacement = await self._replace(worker, victims)
                watched.append(group.create_task(replacement.until_it_ends()))
            elif victims:
                self.display.tell("not all writes are in flight, so nobody is killed", "yellow")
            await asyncio.gather(*(self._take(t) for t in after), *pending)
            for task in watched:
                task.cancel()

    async def _replace(self, worker: Worker, victims: Sequence[Ticket]) -> Worker:
        """Kills the worker in the middle of its writes, and starts another."""
        await worker.kill()
        self.killed.append(worker)
        names = " and ".join(t.id for t in victims)
        self.display.tell(
            f"{worker.name} was killed (SIGKILL, pid {worker.pid}) while it worked on {names}",
            "bold red",
        )
        replacement = await self.staff.hire()
        self.display.tell(f"{replacement.name} takes over (pid {replacement.pid})", "bold")
        return replacement

    async def _until_it_writes(self, ticket: Ticket) -> None:
        """Waits until this ticket is in the middle of its write, for a while."""
        with suppress(TimeoutError):
            async with asyncio.timeout(IN_FLIGHT_SECONDS):
                while not self._is_writing(ticket):  # noqa: ASYNC110 - see `Watch`
                    await asyncio.sleep(0.02)

    def _is_writing(self, ticket: Ticket) -> bool:
        premises = self.scene.premises
        letters = [each for each in premises.mail_server.letters() if each.ticket == ticket.id]
        if letters:
            return not letters[-1].receipted
        requests = premises.gateway.requests(ticket.order) if ticket.order else ()
        return bool(requests) and not requests[-1].answered

    async def _take(self, ticket: Ticket) -> None:
        async with self._turns[ticket.order or ticket.id], self._slots:
            handle = await self.client.start_workflow(
                SupportTicket.run, ticket, id=workflow_id(ticket.id), task_queue=TASK_QUEUE
            )
            self.runs[ticket.id] = handle.result_run_id or ""
            try:
                record = await handle.result()
            except WorkflowFailureError as failure:
                self._finished(ticket, f"not finished: {failure.cause}")
                return
        self.scene.records[ticket.id] = record
        self._finished(ticket, record.outcome)

    def _finished(self, ticket: Ticket, outcome: str) -> None:
        self.watch.look()
        self.display.finished(ticket.id, outcome)
