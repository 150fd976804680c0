"""The desk at work: one workflow for each ticket, and one worker that is killed on the way.

A ticket that waits for a person is put aside: it holds up neither the others nor the killing, and
its approval outlives the worker.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
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
    after_the_kill: asyncio.Event = field(default_factory=asyncio.Event)
    all_put_aside: asyncio.Event = field(default_factory=asyncio.Event)
    runs: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._aside: set[str] = set()
        self._ended: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
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
            pending = {t.id: group.create_task(self._take(t)) for t in before}
            await self._until_put_aside(pending)
            # The refund last: its attempt has the shorter time to be killed in.
            for ticket in sorted(victims, key=lambda t: t.topic == "refund"):
                pending[ticket.id] = group.create_task(self._take(ticket))
                await self._until_it_writes(ticket)
            if victims and all(map(self._is_writing, victims)):
                replacement = await self._replace(worker, victims)
                watched.append(group.create_task(replacement.until_it_ends()))
            elif victims:
                self.display.tell("not all writes are in flight, so nobody is killed", "yellow")
            self.after_the_kill.set()
            pending |= {t.id: group.create_task(self._take(t)) for t in after}
            await self._until_put_aside(pending)
            self.all_put_aside.set()
            await asyncio.gather(*pending.values())
            for task in watched:
                task.cancel()

    def put_aside(self, ticket: str) -> None:
        """A ticket waits for a person, and holds nobody up."""
        if ticket not in self._aside:
            self._aside.add(ticket)
            self._slots.release()

    async def until_finished(self, ticket: str) -> None:
        """Waits until a ticket's workflow has ended."""
        await self._ended[ticket].wait()

    async def _until_put_aside(self, pending: Mapping[str, asyncio.Task[None]]) -> None:
        """Waits until every ticket is finished or put aside."""
        aside = self._aside
        while not all(t.done() or name in aside for name, t in pending.items()):  # noqa: ASYNC110 - see `Watch`
            await asyncio.sleep(0.05)

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
        async with self._turns[ticket.order or ticket.id], self._slot(ticket.id):
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

    @asynccontextmanager
    async def _slot(self, ticket: str) -> AsyncGenerator[None]:
        await self._slots.acquire()
        try:
            yield
        finally:
            if ticket not in self._aside:
                self._slots.release()

    def _finished(self, ticket: Ticket, outcome: str) -> None:
        self.watch.look()
        self.display.finished(ticket.id, outcome)
        self._ended[ticket.id].set()
