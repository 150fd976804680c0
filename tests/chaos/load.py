"""What a chaos run asks for, and who decides: workflows, single requests, approvers."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import TypeVar

from temporalio.client import Client
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from temperance import (
    Actor,
    Approvals,
    CapabilityError,
    ExecutionResult,
    JsonlSink,
    TemperanceClient,
)
from tests.chaos.capabilities import app_of
from tests.chaos.fleet import QUEUE, Fleet
from tests.chaos.jobs import Job, Plan, draw, kind_of
from tests.chaos.workflows import SERVED

T = TypeVar("T")

_PASSES = {
    RPCStatusCode.UNAVAILABLE,
    RPCStatusCode.DEADLINE_EXCEEDED,
    RPCStatusCode.CANCELLED,
    RPCStatusCode.UNKNOWN,
    RPCStatusCode.INTERNAL,
    RPCStatusCode.RESOURCE_EXHAUSTED,
    RPCStatusCode.ABORTED,
}


@dataclass(frozen=True)
class Verdict:
    """An approver was told that its decision counts, or why it does not."""

    approval: str
    approver: str
    approve: bool
    refused: str | None


@dataclass
class Load:
    """All that a run asks for; it follows from the seed and the number of executions."""

    seed: int
    executions: int
    deadly: int
    unkind: int
    plans: dict[str, Plan] = field(default_factory=dict[str, Plan])
    singles: dict[str, Job] = field(default_factory=dict[str, Job])

    def __post_init__(self) -> None:
        jobs = [self._job(n) for n in range(self.executions)]
        single = [job for job in jobs if draw(self.seed, job.n, "single", below=8) == 0]
        rest = [job for job in jobs if job not in single]
        self.singles = {f"single-{job.n}": job for job in single}
        while rest:
            size = 1 + draw(self.seed, rest[0].n, "size", below=16)
            at_once = 1 + draw(self.seed, rest[0].n, "lanes", below=6)
            plan = Plan(jobs=tuple(rest[:size]), at_once=at_once)
            self.plans[f"chaos-{len(self.plans)}"] = plan
            rest = rest[size:]

    def job(self, n: int) -> Job:
        """The job with this number."""
        return self._job(n)

    def _job(self, n: int) -> Job:
        explicit = draw(self.seed, n, "step", below=4) == 0
        return Job(
            seed=self.seed,
            n=n,
            kind=kind_of(self.seed, n),
            deadly=self.deadly,
            unkind=self.unkind,
            step=f"step-{n}" if explicit else None,
            wait=draw(self.seed, n, "wait", below=3) != 0,
        )


async def insist(ask: Callable[[], Awaitable[T]]) -> T:
    """Ask again while the server is away."""
    while True:
        try:
            return await ask()
        except RPCError as error:
            if error.status not in _PASSES:
                raise
        await asyncio.sleep(0.1)


async def start_workflow(client: Client, workflow_id: str, plan: Plan) -> str:
    """Start a workflow, twice; gives its run id, which both starts must agree on."""

    async def once() -> str | None:
        try:
            handle = await client.start_workflow(
                "Chaos",
                plan,
                id=workflow_id,
                task_queue=QUEUE,
                task_timeout=timedelta(seconds=2),
                # Also where the first start has come to its end before the second one.
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            )
        except WorkflowAlreadyStartedError as error:
            return error.run_id
        return handle.first_execution_run_id

    first = await insist(once)
    second = await insist(once)
    if first is None or first != second:
        raise AssertionError(f"{workflow_id}: two starts gave the runs {first} and {second}")
    return first


async def request_twice(
    fleet: Fleet, client: Client, id_: str, job: Job
) -> list[ExecutionResult[object]]:
    """Send the same single request twice at the same time; gives both envelopes."""
    # It records what no worker sees, such as a timeout by the server.
    sink = JsonlSink(fleet.folder / "audit" / "client.jsonl")
    asker = TemperanceClient(
        client, app_of(fleet.ledger, [sink]), actor=Actor(id="single"), task_queue=QUEUE
    )

    async def once() -> ExecutionResult[object]:
        return await insist(lambda: asker.invoke(SERVED[job.kind], job, request_id=id_, wait=False))

    try:
        return list(await asyncio.gather(once(), once()))
    finally:
        sink.close()


async def decide(client: Client, approval: str, rng: Random, verdicts: list[Verdict]) -> None:
    """Have three approvers decide the same approval at the same time, by their own lights."""
    approvals = Approvals(client, timeout=timedelta(seconds=8))

    async def by(number: int) -> None:
        approver = Actor(id=f"boss-{number}")
        approve = rng.random() < 0.7
        act = approvals.approve if approve else approvals.reject
        refused: str | None = None
        try:
            await insist(lambda: act(approval, approver=approver))
        except CapabilityError as error:
            refused = error.code
        verdicts.append(Verdict(approval, str(approver), approve, refused))

    await asyncio.gather(*(by(number) for number in range(3)))


async def decide_all(
    client: Client, seed: int, verdicts: list[Verdict], finished: asyncio.Event
) -> None:
    """Decide whatever is pending until the run is over, but half of what single requests asked for.

    Nobody waits for these; a workflow may wait for any other.
    """
    rng, seen, left_alone = Random(seed), set[str](), set[str]()  # noqa: S311 - a schedule
    approvals = Approvals(client)
    while not finished.is_set():
        found: list[str] = []
        try:
            async for entry in approvals.list("pending", limit=50):
                if entry.id not in seen and entry.workflow_id is None and rng.random() < 0.5:
                    left_alone.add(entry.id)
                seen.add(entry.id)
                if entry.id not in left_alone:
                    found.append(entry.id)
        except RPCError:
            await asyncio.sleep(0.2)
        await asyncio.gather(*(decide(client, one, rng, verdicts) for one in found[:20]))
        await asyncio.sleep(0.1)
