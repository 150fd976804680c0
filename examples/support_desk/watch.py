"""What a person can watch while it happens: news from the databases of the incidents' witnesses."""

import asyncio
from collections.abc import Callable, Iterator

from .premises import Incidents
from .stories import Scene
from .tickets import Ticket

POLL_SECONDS = 0.1


class Watch:
    """Reads the news again and again, and tells each of them once."""

    def __init__(self, scene: Scene, incidents: Incidents, tell: Callable[[str], None]) -> None:
        self._scene = scene
        self._incidents = incidents
        self._tell = tell
        self._told: set[str] = set()

    async def keep(self) -> None:
        """Watches until it is cancelled. Files of other processes are polled: they set no event."""
        while True:
            self.look()
            await asyncio.sleep(POLL_SECONDS)

    def look(self) -> None:
        """Tells what is new."""
        for news in self._news():
            if news not in self._told:
                self._told.add(news)
                self._tell(news)

    def _news(self) -> Iterator[str]:
        for ticket in self._scene.tickets.values():
            if ticket.order in self._incidents.warehouse_fails_first:
                yield from self._reads(ticket, ticket.order)
            if ticket.order in self._incidents.gateway_gives_no_answer:
                yield from self._payments(ticket, ticket.order)
        yield from self._letters()

    def _reads(self, ticket: Ticket, order: str) -> Iterator[str]:
        reads = self._scene.premises.warehouse.reads(order)
        for number, read in enumerate(reads, start=1):
            what = "answered" if read.answered else "failed"
            yield f"{ticket.id}: read {number} of the warehouse {what} ({self._who(read.pid)})"

    def _payments(self, ticket: Ticket, order: str) -> Iterator[str]:
        requests = self._scene.premises.gateway.requests(order)
        for number, request in enumerate(requests, start=1):
            what = (
                "the money moved, no answer comes"
                if request.outcome == "moved"
                else "known key, nothing moves, the recorded charge is answered"
            )
            yield f"{ticket.id}: request {number} at the gateway: {what} ({self._who(request.pid)})"

    def _letters(self) -> Iterator[str]:
        for letter in self._scene.premises.mail_server.letters():
            if letter.ticket in self._incidents.mail_server_gives_no_answer:
                yield (
                    f"{letter.ticket}: letter {letter.number} has left, no receipt comes "
                    f"({self._who(letter.pid)})"
                )

    def _who(self, pid: int) -> str:
        return self._scene.worker(pid)
