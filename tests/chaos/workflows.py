"""The workflow of a chaos run: asks for what its plan says, and gives back every envelope."""

import asyncio

from pydantic import BaseModel
from temporalio import workflow

from temperance import Actor, Capability, ExecutionResult
from temperance.workflows import Invoker
from tests.chaos import capabilities
from tests.chaos.jobs import Job, Kind, Plan, Receipt

# The capabilities themselves and not their ids: whether one is there must not follow from which
# build runs the workflow task, because the next build replays it.
SERVED: dict[Kind, Capability[Job, Receipt]] = {
    "read": capabilities.read,
    "charge": capabilities.charge,
    "write": capabilities.write,
    "blocking": capabilities.blocking,
    "gated": capabilities.gated,
    "patient": capabilities.patient,
}


class Answered(BaseModel):
    """The envelope of one job."""

    n: int
    envelope: ExecutionResult[Receipt]


@workflow.defn
class Chaos:
    """Several lanes take jobs from one list. When it is cancelled it asks for no more."""

    def __init__(self) -> None:
        self._answers: list[Answered] = []

    @workflow.run
    async def run(self, plan: Plan) -> list[Answered]:
        left = list(reversed(plan.jobs))
        lanes = [asyncio.create_task(self._lane(left)) for _ in range(plan.at_once)]
        while open_lanes := [lane for lane in lanes if not lane.done()]:
            try:
                await workflow.wait(open_lanes)
            except asyncio.CancelledError:
                for lane in open_lanes:
                    lane.cancel()
        for lane in lanes:
            # A lane that was cancelled has noted what it got; any other error is a wrong result.
            if not lane.cancelled() and (error := lane.exception()) is not None:
                raise error
        return self._answers

    async def _lane(self, left: list[Job]) -> None:
        invoker = Invoker(actor=Actor(id="storm"))
        while left:
            job = left.pop()
            envelope = await invoker.invoke(SERVED[job.kind], job, step=job.step, wait=job.wait)
            self._answers.append(Answered(n=job.n, envelope=envelope))
