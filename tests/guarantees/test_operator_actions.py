"""An operator pauses, resumes and resets activities that run (DESIGN section 2, "not promised")."""

from typing import Any

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.api.workflowservice.v1 import (
    PauseActivityRequest,
    ResetActivityRequest,
    UnpauseActivityRequest,
)
from temporalio.client import WorkflowHandle

from temperance.embedded import EmbeddedServer
from tests.conftest import StartWorker
from tests.guarantees.stopping.playing import Stand, code_of
from tests.guarantees.stopping.scenes import SCENES
from tests.guarantees.stopping.workflows import Foreign, Plan
from tests.support.waiting import wait_until

Handle = WorkflowHandle[Any, Any]  # of any workflow


async def pending(handle: Handle) -> PendingActivityInfo | None:
    """The one activity that has not ended."""
    described = await handle.describe()
    activities = described.raw_description.pending_activities
    return activities[0] if activities else None


class Operator:
    """Does to a pending activity what the command line and the UI can do."""

    def __init__(self, stand: Stand, handle: Handle) -> None:
        self._stand = stand
        self._execution = WorkflowExecution(workflow_id=handle.id)
        self._handle = handle

    async def _id(self) -> str:
        found = await pending(self._handle)
        assert found is not None
        return found.activity_id

    async def pause(self) -> None:
        await self._stand.client.workflow_service.pause_activity(
            PauseActivityRequest(
                namespace=self._stand.client.namespace,
                execution=self._execution,
                id=await self._id(),
            )
        )

    async def unpause(self) -> None:
        await self._stand.client.workflow_service.unpause_activity(
            UnpauseActivityRequest(
                namespace=self._stand.client.namespace,
                execution=self._execution,
                id=await self._id(),
            )
        )

    async def reset(self) -> None:
        await self._stand.client.workflow_service.reset_activity(
            ResetActivityRequest(
                namespace=self._stand.client.namespace,
                execution=self._execution,
                id=await self._id(),
            )
        )


async def test_g2_a_write_that_an_operator_pauses_or_resets_while_it_runs_is_not_repeated(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """It is told to stop, its effect is possible, and there is nothing left to resume."""
    stand = await Stand.at(embedded, task_queue)
    async with stand.worker():
        paused = await stand.start("stop.write", stand.case("paused", "wait"), manner="return")
        reset = await stand.start("stop.write", stand.case("reset", "swallow"), manner="return")
        for handle in (paused, reset):
            await SCENES[handle.id].until_started()
        await Operator(stand, paused).pause()
        await Operator(stand, reset).reset()
        for handle in (paused, reset):
            (envelope,) = await handle.result()
            assert (envelope.status, code_of(envelope)) == ("failed", "EXECUTION_FAILED")
            assert (envelope.effect, envelope.attempts) == ("possible", 1)
            assert stand.trail(envelope) == ["requested", "started", "failed"]
            scene = SCENES[handle.id]
            assert (scene.entries, "told" in scene.notes) == (1, True)


async def test_g4_a_read_that_an_operator_pauses_goes_on_when_it_is_resumed(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """The interrupted attempt is one of its attempts, and the record says so."""
    stand = await Stand.at(embedded, task_queue)
    async with stand.worker():
        handle = await stand.start("stop.read", stand.case("a", "wait", "return"), manner="return")
        await SCENES[handle.id].until_started()
        operator = Operator(stand, handle)
        await operator.pause()

        async def waits() -> bool:
            found = await pending(handle)
            return found is not None and found.attempt == 2 and found.paused

        await wait_until(waits)
        assert SCENES[handle.id].entries == 1
        await operator.unpause()
        (envelope,) = await handle.result()
    assert (envelope.status, envelope.attempts) == ("completed", 2)
    assert envelope.errors == ("EXECUTION_FAILED",)
    assert stand.trail(envelope) == ["requested", "started", "retried", "started", "completed"]


async def test_g2_a_write_that_an_operator_resets_after_its_worker_died_refuses_to_run_again(
    embedded: EmbeddedServer, task_queue: str, worker_process: StartWorker
) -> None:
    """Foreign code lets it run without limit, and a reset in the queue starts again at attempt 1.

    A heartbeat of the first run says that the handler was entered.
    """
    stand = await Stand.at(embedded, task_queue)
    elsewhere = f"{task_queue}-elsewhere"
    arguments = (embedded.target_host, elsewhere)
    case = stand.case("a", "wait")
    async with stand.worker():
        first = await worker_process("tests.guarantees.stopping.worker", *arguments)
        handle = await stand.client.start_workflow(
            Foreign.run,
            Plan(capability="stop.long_write", cases=(case,), queue=elsewhere),
            id=case.name,
            task_queue=task_queue,
        )
        await first.until_line("entered")

        async def marked() -> bool:
            found = await pending(handle)
            return found is not None and b"entered" in found.heartbeat_details.SerializeToString()

        await wait_until(marked)
        first.kill()
        await first.wait()

        async def queued_again() -> bool:
            found = await pending(handle)
            return found is not None and found.attempt == 2

        await wait_until(queued_again)
        await Operator(stand, handle).reset()
        second = await worker_process("tests.guarantees.stopping.worker", *arguments)
        said = await handle.result()
    assert said.startswith("RETRY_FORBIDDEN ")
    assert "'effect': 'possible'" in said
    assert "'details': {'attempt': 1, 'maximum': 1}" in said
    assert "entered" not in second.output().splitlines()
