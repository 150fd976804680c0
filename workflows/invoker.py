"""`Invoker`: how workflow code asks for governed executions (DESIGN section 6).

Deterministic: it schedules, waits and reads. Everything that decides runs in the activity.
"""

from typing import Any, TypeVar, overload

from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue
from temporalio.exceptions import ActivityError, CancelledError

from ..runtime.actor import Actor
from ..runtime.capability import Capability, id_asked_for
from ..runtime.envelope import ExecutionResult, Failed
from ..runtime.error import CapabilityError
from ..runtime.identity import check_identifier, workflow_execution_id
from ..runtime.messages import Ask
from ..runtime.names import SURFACES, Surface
from .cancellation import Cancellations, deliver_cancellation
from .fatal import MalformedInvoker
from .options import summary_of
from .raw_input import raw_input, refusal
from .reading import Answer, Asked, read_result
from .reading_failure import read_failure
from .run import current_run
from .steps import Step
from .unseen import record_unseen

I = TypeVar("I")  # noqa: E741 - input, as in DESIGN section 4
O = TypeVar("O")  # noqa: E741 - output

_JSON = Payload(metadata={"encoding": b"json/plain"})


class Invoker:
    """Requests executions on behalf of one actor, through one door.

    Args:
        actor: The authenticated requester; never the model.
        surface: ``workflow`` for a workflow's own steps, ``agent`` for what a model asked for.
        correlation_id: The application's own id, passed through to audit events.
        task_queue: Where the activities run; the workflow's own task queue unless given.

    Raises:
        StepError: An unknown surface, or a malformed correlation id.
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
            raise MalformedInvoker(str(error)) from None
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
        await deliver_cancellation(run)
        cancellations = Cancellations(run)
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
            return await _refuse(name, ask, taken, unsendable, cancellations)
        if known is None:
            unknown = CapabilityError("CAPABILITY_NOT_FOUND", audit_reason="unknown")
            return await _refuse(name, ask, taken, unknown, cancellations)
        asked = Asked(
            known,
            _execution_id(taken.id),
            None if taken.repeat_of is None else _execution_id(taken.repeat_of),
            decode=not by_id,
        )
        await run.outbox.room(len(raw.json) + len(context))
        handle = workflow.start_activity(
            known.id,
            args=[_raw(raw.json), _raw(context)],
            activity_id=taken.id,
            task_queue=self._task_queue,
            result_type=RawValue,
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            summary=summary_of(known, self._actor),
            **run.options.of(known, rerun=_follows_another_run()),
        )
        await cancellations.until_done(handle, stop=True)
        answer = _read(asked, handle)
        envelope = answer.envelope
        if not answer.seen:
            envelope = await record_unseen(ask, taken.id, answer, cancellations)
        cancellations.hand_on()
        return envelope


def _read(asked: Asked, handle: workflow.ActivityHandle[RawValue]) -> Answer:
    """What a finished activity comes to."""
    if handle.cancelled():
        return read_failure(asked, CancelledError())
    failure = handle.exception()
    if failure is None:
        return Answer(read_result(asked, handle.result()))
    if isinstance(failure, ActivityError):
        return read_failure(asked, failure)
    raise failure


def _raw(data: bytes) -> RawValue:
    payload = Payload()
    payload.CopyFrom(_JSON)  # a third of what naming the encoding anew takes
    payload.data = data
    return RawValue(payload)


def _follows_another_run() -> bool:
    info = workflow.info()
    return info.attempt > 1 or info.run_id != info.original_execution_run_id


def _execution_id(step_id: str) -> str:
    info = workflow.info()
    return workflow_execution_id(
        info.namespace, info.workflow_id, info.original_execution_run_id, step_id
    )


async def _refuse(
    name: str, ask: Ask, step: Step, error: CapabilityError, cancellations: Cancellations
) -> Failed:
    """Ends an execution that nothing was scheduled for, and has it recorded."""
    envelope = Failed(
        execution_id=_execution_id(step.id),
        capability=name,
        repeat_of=None if step.repeat_of is None else _execution_id(step.repeat_of),
        error=error.public(),
    )
    answer = Answer(envelope, seen=False, requested=False)
    recorded = await record_unseen(ask, step.id, answer, cancellations, reason=error.audit_reason)
    cancellations.hand_on()
    return recorded if isinstance(recorded, Failed) else envelope
