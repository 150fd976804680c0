"""`Invoker`: how workflow code asks for governed executions (DESIGN section 6).

Deterministic: it schedules, waits and reads. Everything that decides runs in the activity.
"""

import asyncio
from typing import Any, TypeVar, overload

from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue
from temporalio.exceptions import ActivityError, CancelledError

from ..runtime.actor import Actor
from ..runtime.capability import Capability, id_asked_for
from ..runtime.envelope import ExecutionResult, Failed
from ..runtime.error import CapabilityError, StepError
from ..runtime.identity import check_identifier, workflow_execution_id
from ..runtime.messages import Ask
from ..runtime.names import SURFACES, Surface
from .options import derive_options, summary_of
from .raw_input import raw_input, refusal
from .reading import Answer, Asked, read_failure, read_result
from .run import GovernedRun, current_run
from .steps import Step
from .unseen import record_unseen

I = TypeVar("I")  # noqa: E741 - input, as in DESIGN section 4
O = TypeVar("O")  # noqa: E741 - output

_JSON = {"encoding": b"json/plain"}


class Invoker:
    """Requests executions on behalf of one actor, through one door.

    Args:
        actor: The authenticated requester; never the model.
        surface: ``workflow`` for a workflow's own steps, ``agent`` for what a model asked for.
        correlation_id: The application's own id, passed through to audit events.
        task_queue: Where the activities run; the workflow's own task queue unless given.

    Raises:
        ValueError: An unknown surface, or a malformed correlation id.
    """

    def __init__(
        self,
        *,
        actor: Actor,
        surface: Surface = "workflow",
        correlation_id: str | None = None,
        task_queue: str | None = None,
    ) -> None:
        try:
            if surface not in SURFACES:
                raise ValueError(
                    f"surface {surface!r} is unknown: give one of {', '.join(SURFACES)}"
                )
            if correlation_id is not None:
                check_identifier("correlation_id", correlation_id)
        except ValueError as error:
            raise StepError(str(error)) from None
        self._actor = actor
        self._surface: Surface = surface
        self._correlation_id = correlation_id
        self._task_queue = task_queue

    @overload
    async def invoke(
        self,
        capability: Capability[I, O],
        input: I | object,
        *,
        step: str | None = ...,
    ) -> ExecutionResult[O]: ...

    @overload
    async def invoke(
        self,
        capability: str,
        input: object,
        *,
        step: str | None = ...,
    ) -> ExecutionResult[object]: ...

    async def invoke(
        self,
        capability: Capability[I, O] | str,
        input: object,
        *,
        step: str | None = None,
    ) -> ExecutionResult[O] | ExecutionResult[object]:
        """Requests one execution and waits for its envelope.

        When the workflow is cancelled meanwhile, the running attempt is cancelled and its envelope
        still returned; the cancellation itself is delivered at the workflow's next ``await``. When
        only the calling task is cancelled (``asyncio.timeout``, a task group), ``CancelledError``
        is raised once the execution has ended.

        Args:
            capability: The capability, or its id, as a model's tool call gives it.
            input: An instance of the input model, a JSON-like value, or ``bytes`` of JSON;
                with an id also JSON as ``str``.
            step: The caller's own step id: its promise that this is the same thing whatever its
                input. Left out, the id follows from capability, input and count.

        Returns:
            The envelope; whatever goes wrong in the request is in it. Asked by id, the output is
            JSON-like.

        Raises:
            StepError: The step id is malformed or was used before in this run; nothing is
                scheduled.
            ConfigurationError: The worker has no `TemperancePlugin`.
            asyncio.CancelledError: The calling task was cancelled.
        """
        run = current_run()
        await _deliver_cancellation(run)
        name = id_asked_for(capability)
        by_id = not isinstance(capability, Capability)
        known: Capability[Any, Any] | None = (
            capability
            if isinstance(capability, Capability)
            else run.app.governance.registry.get(name)
        )
        raw = raw_input(known, input, by_id=by_id)
        taken = run.steps.take(name, raw.hash, step)
        info = workflow.info()
        ask = Ask(
            actor=self._actor,
            surface=self._surface,
            origin=info.original_execution_run_id,
            workflow_attempt=info.attempt,
            repeat_of=taken.repeat_of,
            correlation_id=self._correlation_id,
        )
        context = ask.to_json()
        unsendable = refusal(raw, context, run.app.payload_limit)
        if unsendable is not None:
            return await _refuse(name, ask, taken, unsendable)
        if known is None:
            return await _refuse(
                name, ask, taken, CapabilityError("CAPABILITY_NOT_FOUND", audit_reason="unknown")
            )
        asked = Asked(
            known,
            _execution_id(taken.id),
            None if taken.repeat_of is None else _execution_id(taken.repeat_of),
            decode=not by_id,
        )
        await run.outbox.room(len(raw.json) + len(context))
        answer, cancelled = await self._execute(asked, raw.json, context, taken)
        envelope = answer.envelope
        if not answer.seen:
            envelope = await record_unseen(ask, taken.id, answer)
        if cancelled:
            _hand_on_cancellation(run)
        return envelope

    async def _execute(
        self, asked: Asked, raw: bytes, context: bytes, step: Step
    ) -> tuple[Answer, bool]:
        handle = workflow.start_activity(
            asked.capability.id,
            args=[_raw(raw), _raw(context)],
            activity_id=step.id,
            task_queue=self._task_queue,
            result_type=RawValue,
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            summary=summary_of(asked.capability, self._actor),
            **derive_options(asked.capability),
        )
        cancelled = False
        while True:
            try:
                value: RawValue = await asyncio.shield(handle)
                return Answer(read_result(asked, value)), cancelled
            except asyncio.CancelledError:
                if handle.cancelled():
                    return read_failure(asked, CancelledError()), cancelled
                cancelled = True
                await _let_finish(handle)
                if not handle.done():
                    handle.cancel()
            except ActivityError as error:
                return read_failure(asked, error), cancelled


def _raw(data: bytes) -> RawValue:
    return RawValue(Payload(metadata=_JSON, data=data))


def _execution_id(step_id: str) -> str:
    info = workflow.info()
    return workflow_execution_id(
        info.namespace, info.workflow_id, info.original_execution_run_id, step_id
    )


async def _refuse(name: str, ask: Ask, step: Step, error: CapabilityError) -> Failed:
    """Ends an execution that nothing was scheduled for, and has it recorded."""
    envelope = Failed(
        execution_id=_execution_id(step.id),
        capability=name,
        repeat_of=None if step.repeat_of is None else _execution_id(step.repeat_of),
        error=error.public(),
    )
    answer = Answer(envelope, seen=False, requested=False)
    recorded = await record_unseen(ask, step.id, answer, reason=error.audit_reason)
    return recorded if isinstance(recorded, Failed) else envelope


async def _let_finish(handle: "workflow.ActivityHandle[Any]") -> None:
    """Lets a result that has already arrived win over the cancellation that came with it.

    Both may be in one workflow task. The SDK would drop the result if the handle were cancelled
    before it has run; a few turns of the loop let it run.
    """
    for _ in range(4):
        if handle.done():
            return
        await asyncio.sleep(0)


def _hand_on_cancellation(run: GovernedRun) -> None:
    """Sees to it that a cancellation which arrived during an execution is not lost.

    Raises:
        asyncio.CancelledError: Only the calling task was cancelled, by asyncio's own means, which
            expect the exception.
    """
    task = asyncio.current_task()
    if task is None:
        return
    if workflow.cancellation_reason() is None:
        raise asyncio.CancelledError
    task.uncancel()
    task.cancel()
    run.cancelled.add(task)


async def _deliver_cancellation(run: GovernedRun) -> None:
    """The next ``await`` after a cancellation is here: nothing new is started before it is told."""
    task = asyncio.current_task()
    if task is not None and task in run.cancelled:
        run.cancelled.discard(task)
        await asyncio.sleep(0)
