"""The storm: what happens to processes and workflows while the load is worked off.

Which blow comes next, and how long after the one before, follows from the seed alone.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from random import Random
from typing import Literal, get_args

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError

from temperance import Approvals, ExecutionResult
from tests.chaos.fleet import STANDS_LONG, Fleet
from tests.chaos.load import Load, Verdict, decide_all, insist, request_twice, start_workflow
from tests.guarantees.runs.rewinding import reset
from tests.support.history import history_events
from tests.support.waiting import wait_until

Blow = Literal[
    "kill", "terminate", "suspend", "long", "server", "reset", "approval", "cancel"
]  # fmt: skip

_WEIGHTS: dict[Blow, int] = {
    "kill": 6, "terminate": 4, "suspend": 5, "long": 1, "server": 2, "reset": 8, "approval": 3,
    "cancel": 2,
}  # fmt: skip
_OPEN_AT_ONCE = 8
_MOST_RESETS = 3
_MOST_CALM = timedelta(minutes=2)


@dataclass
class Deeds:
    """What the storm did, and what it was told.

    Args:
        first_runs: The run that each start of a workflow gave.
        singles: The envelopes that the senders of each single request got.
        verdicts: What approvers were told.
        blows: How many of each kind.
        resets: How often each workflow was reset.
        cancelled: Workflows that were asked to cancel.
    """

    first_runs: dict[str, str] = field(default_factory=dict[str, str])
    singles: dict[str, list[ExecutionResult[object]]] = field(
        default_factory=dict[str, list[ExecutionResult[object]]]
    )
    verdicts: list[Verdict] = field(default_factory=list[Verdict])
    blows: Counter[str] = field(default_factory=Counter[str])
    resets: Counter[str] = field(default_factory=Counter[str])
    cancelled: set[str] = field(default_factory=set[str])


class Storm:
    """One run: the load, and the blows that fall meanwhile."""

    def __init__(self, fleet: Fleet, client: Client, load: Load, every: float) -> None:
        self.deeds = Deeds()
        self._fleet, self._client, self._load, self._every = fleet, client, load, every
        self._rng = Random(load.seed)  # noqa: S311 - a schedule
        self._meanwhile: set[asyncio.Task[None]] = set()

    async def rage(self, progress: Callable[[str], None]) -> Deeds:
        """Work off the load under blows, then wait in calm until everything has ended."""
        finished = asyncio.Event()
        deciders = asyncio.create_task(
            decide_all(self._client, self._load.seed, self.deeds.verdicts, finished)
        )
        blows = asyncio.create_task(self._blow_after_blow())
        try:
            room = asyncio.Semaphore(_OPEN_AT_ONCE)
            asked = [self._workflow(room, id_) for id_ in self._load.plans]
            asked += [self._single(room, id_) for id_ in self._load.singles]
            for number, one in enumerate(asyncio.as_completed(asked), 1):
                await one
                if number % 50 == 0:
                    progress(f"{number} of {len(asked)} done; blows: {dict(self.deeds.blows)}")
            blows.cancel()
            await asyncio.gather(blows, return_exceptions=True)
            await asyncio.gather(*self._meanwhile)
            progress("calm")
            for id_ in self._load.plans:
                await self._until_closed(id_)
        finally:
            finished.set()
            blows.cancel()
            await asyncio.gather(deciders, blows, return_exceptions=True)
        for approval in {one.approval for one in self.deeds.verdicts if one.refused is None}:
            await wait_until(partial(self._is_closed, approval), _MOST_CALM)
        if not blows.cancelled() and (error := blows.exception()) is not None:
            raise error
        return self.deeds

    async def _workflow(self, room: asyncio.Semaphore, id_: str) -> None:
        async with room:
            self.deeds.first_runs[id_] = await start_workflow(
                self._client, id_, self._load.plans[id_]
            )
            await self._until_closed(id_)

    async def _single(self, room: asyncio.Semaphore, id_: str) -> None:
        async with room:
            job = self._load.singles[id_]
            self.deeds.singles[id_] = await request_twice(self._fleet, self._client, id_, job)

    async def _until_closed(self, id_: str) -> None:
        handle = self._client.get_workflow_handle(id_)
        while (await insist(handle.describe)).status is WorkflowExecutionStatus.RUNNING:  # noqa: ASYNC110 - nothing tells but the server
            await asyncio.sleep(0.2)

    async def _is_closed(self, approval: str) -> bool:
        """Whether an approval that was decided has also been executed, again after a reset."""
        handle = self._client.get_workflow_handle(approval)
        return (await insist(handle.describe)).status is not WorkflowExecutionStatus.RUNNING

    async def _blow_after_blow(self) -> None:
        kinds = [kind for kind in get_args(Blow) for _ in range(_WEIGHTS[kind])]
        while True:
            await asyncio.sleep(self._rng.uniform(0.3, 1.7) * self._every)
            blow: Blow = self._rng.choice(kinds)
            rng = Random(self._rng.random())  # noqa: S311 - likewise
            self.deeds.blows[blow] += 1
            try:
                await self._strike(blow, rng)
            except RPCError:
                self.deeds.blows[f"{blow} in vain"] += 1

    async def _strike(self, blow: Blow, rng: Random) -> None:
        match blow:
            case "kill":
                self._fleet.kill(rng)
            case "terminate":
                self._fleet.terminate(rng)
            case "suspend":
                self._aside(self._fleet.suspend(rng))
            case "long":
                self._aside(self._fleet.suspend(rng, STANDS_LONG))
            case "approval":
                await self._reset_approval(rng)
            case "server":
                await asyncio.shield(self._fleet.restart_server(rng))
            case "reset":
                await self._reset(rng)
            case "cancel":
                if self.deeds.first_runs:
                    id_ = rng.choice(list(self.deeds.first_runs)[-_OPEN_AT_ONCE:])
                    await self._client.get_workflow_handle(id_).cancel()
                    self.deeds.cancelled.add(id_)

    def _aside(self, blow: Coroutine[None, None, None]) -> None:
        """Go on with the next blow while this one lasts."""
        task = asyncio.create_task(blow)
        self._meanwhile.add(task)
        task.add_done_callback(self._meanwhile.discard)

    async def _reset_approval(self, rng: Random) -> None:
        """Rewind an approval, open or closed, to its beginning or to another of its tasks."""
        approvals = Approvals(self._client)
        recent = [entry.id async for entry in approvals.list("all", limit=20)]
        if recent:
            await self._rewind(rng.choice(recent), rng)

    async def _reset(self, rng: Random) -> None:
        """Rewind a workflow, open or closed, to one of its tasks."""
        often = [id_ for id_, times in self.deeds.resets.items() if times >= _MOST_RESETS]
        recent = list(self.deeds.first_runs)[-3 * _OPEN_AT_ONCE :]
        if not (ids := [id_ for id_ in recent if id_ not in often]):
            return
        await self._rewind(rng.choice(ids), rng)

    async def _rewind(self, id_: str, rng: Random) -> None:
        run_id = (await self._client.get_workflow_handle(id_).describe()).run_id
        ends = [
            event.event_id
            for event in await history_events(self._client, id_, run_id)
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
        ]
        if ends:
            await reset(self._client, id_, run_id, rng.choice(ends))
            self.deeds.resets[id_] += 1
