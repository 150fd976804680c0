"""What is asked for: workflows, single requests and decisions, all the time, each at a fixed pace.

The pace does not follow from how fast the machine is, so that what is measured late is measured
under the load that was there at first.
"""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from datetime import timedelta
from itertools import count
from typing import Final

from temporalio.client import Client, WorkflowFailureError
from temporalio.service import RPCError

from temperance import Approvals, CapabilityError, TemperanceClient

from .by_hand import PlainJourney, PlainPlan
from .journey import Journey, Plan
from .shop import ADA, GRACE, CountingSink, Order, app_of, look, pay, ship
from .worker import PLAIN_QUEUE, TASK_QUEUE

JOURNEYS_A_SECOND: Final = 2.0
REQUESTS_A_SECOND: Final = 4.0
DECIDE_EVERY: Final = 1.0
"""Seconds."""

MOST_OPEN: Final = 60
"""Where so many requests are under way, the next ones are left out, and counted: a machine that is
too slow for the pace would else pile them up."""

RUNS: Final = 3
"""Runs of each workflow: it continues as new twice."""

CANCELLED: Final = 9
ASKS: Final = 5
"""One of so many workflows is cancelled, or asks a person."""


class Load:
    """The load, from `run` until it is told to stop, and again.

    Args:
        client: A client with the plugin.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._numbers = count()
        self._request_numbers = count()
        self._stopping = asyncio.Event()
        self.done: Counter[str] = Counter()
        self.open = 0
        self.runs = 0

    async def run(self) -> None:
        """Asks until it is stopped, and ends when all that was asked for has ended."""
        self._stopping.clear()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._journeys(group))
            group.create_task(self._requests(group))
            group.create_task(self._decisions())

    def stop(self) -> None:
        """Asks for nothing more; decisions go on, because what is under way waits for them."""
        self._stopping.set()

    async def _journeys(self, group: asyncio.TaskGroup) -> None:
        while not self._stopping.is_set():
            if self._has_room("workflows"):
                number = next(self._numbers)
                group.create_task(self._counted(self._journey(number)))
                group.create_task(self._counted(self._plain_journey(number)))
            await asyncio.sleep(1 / JOURNEYS_A_SECOND)

    async def _journey(self, number: int) -> None:
        handle = await self._client.start_workflow(
            Journey.run,
            Plan(number=number, asks_a_person=number % ASKS == 0),
            id=f"journey-{number}",
            task_queue=TASK_QUEUE,
            execution_timeout=timedelta(minutes=2),
        )
        if number % CANCELLED == 4:
            await handle.cancel()
        try:
            await handle.result()
        except WorkflowFailureError as failure:
            self.done[f"workflows: {type(failure.cause).__name__}"] += 1
        else:
            self.done["workflows"] += 1
            self.runs += RUNS

    async def _plain_journey(self, number: int) -> None:
        try:
            await self._client.execute_workflow(
                PlainJourney.run,
                PlainPlan(number=number),
                id=f"plain-{number}",
                task_queue=PLAIN_QUEUE,
                execution_timeout=timedelta(minutes=2),
            )
        except WorkflowFailureError as failure:  # on a busy machine an attempt can take too long
            self.done[f"control workflows: {type(failure.cause).__name__}"] += 1
        else:
            self.done["control workflows"] += 1
            self.runs += RUNS

    async def _requests(self, group: asyncio.TaskGroup) -> None:
        client = TemperanceClient(
            self._client, app_of(CountingSink()), actor=ADA, task_queue=TASK_QUEUE
        )
        while not self._stopping.is_set():
            if self._has_room("requests"):
                number = next(self._request_numbers)
                group.create_task(self._counted(self._request(client, number)))
            await asyncio.sleep(1 / REQUESTS_A_SECOND)

    async def _request(self, client: TemperanceClient, number: int) -> None:
        # Each is sent twice, and runs once.
        once = number // 2
        envelope = await client.invoke(
            (look, pay, ship)[once % 3], Order(number=once), request_id=f"request-{once}"
        )
        self.done[f"requests: {envelope.status}"] += 1

    async def _decisions(self) -> None:
        approvals = Approvals(self._client)
        while self.open or not self._stopping.is_set():
            try:
                async for asked in approvals.list("pending"):
                    await self._decision(approvals, asked.id)
            except RPCError as error:
                self.done[f"not answered: {error.status.name}"] += 1
            await asyncio.sleep(DECIDE_EVERY)

    async def _decision(self, approvals: Approvals, id: str) -> None:
        try:
            if ord(id[-1]) % 3:  # as good as any other two of three
                await approvals.approve(id, approver=GRACE)
            else:
                await approvals.reject(id, approver=GRACE)
        except CapabilityError as refusal:
            self.done[f"decisions: {refusal.code}"] += 1  # it was closed meanwhile
        else:
            self.done["decisions"] += 1

    def _has_room(self, kind: str) -> bool:
        if self.open < MOST_OPEN:
            return True
        self.done[f"{kind}: left out, too many under way"] += 1
        return False

    async def _counted(self, work: Coroutine[object, object, None]) -> None:
        self.open += 1
        try:
            await work
        except RPCError as error:  # the server was too busy to answer in time
            self.done[f"not answered: {error.status.name}"] += 1
        finally:
            self.open -= 1
