"""`Invoker`: how workflow code asks for governed executions (DESIGN section 6).

Deterministic: it schedules, waits and reads. Everything that decides runs in the activity.
"""

import dataclasses
from typing import Any, TypeVar, overload

from temporalio import workflow

from ..runtime.actor import Actor, check_requester
from ..runtime.call import Asked as Demand
from ..runtime.canonical import hash_bytes
from ..runtime.capability import Capability, id_asked_for
from ..runtime.envelope import ApprovalRequired, Cancelled, Completed, ExecutionResult, Failed
from ..runtime.error import CapabilityError, StepError
from ..runtime.identity import check_identifier, workflow_execution_id
from ..runtime.messages import Ask
from ..runtime.names import Surface
from .absent import Sent
from .approval_options import request_of
from .asking import ask_person
from .cancellation import Cancellations, deliver_cancellation
from .execution import Execution, follows_another_run
from .fatal import MalformedInvoker
from .joining import record_joined
from .local import execute_locally
from .local_watch import is_doubtful
from .pending import Pending, key_of
from .placing import is_local
from .raw_input import raw_input, refusal
from .reading import Answer, Asked, typed
from .run import GovernedRun, current_run
from .settling import execute_and_settle
from .steps import Step
from .unseen import record_unseen
from .waiting import wait_for

I = TypeVar("I")  # noqa: E741 - input, as in DESIGN section 4
O = TypeVar("O")  # noqa: E741 - output


class Invoker:
    """Requests executions on behalf of one actor, through one door.

    Args:
        actor: The authenticated requester; never the model.
        surface: ``workflow`` for a workflow's own steps, ``agent`` for what a model asked for.
        correlation_id: The application's own id, passed through to audit events.
        task_queue: Where the activities run; the workflow's own task queue unless given.

    Raises:
        StepError: An actor that is none, an unknown surface, or a malformed correlation id.
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
            check_requester(actor, surface)
            if correlation_id is not None:
                check_identifier("correlation_id", correlation_id)
        except (TypeError, ValueError) as error:
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
        wait: bool = ...,
    ) -> ExecutionResult[O]: ...

    @overload
    async def invoke(
        self,
        capability: str,
        input: object,
        *,
        step: str | None = ...,
        wait: bool = ...,
    ) -> ExecutionResult[object]: ...

    async def invoke(
        self,
        capability: Capability[I, O] | str,
        input: object,
        *,
        step: str | None = None,
        wait: bool = True,
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
            wait: Whether to wait where a person must approve. ``False`` gives the
                `ApprovalRequired` envelope at once; `outcome` waits later.

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
        known: Capability[Any, Any] | None
        if type(capability) is Capability or isinstance(capability, Capability):
            by_id, known, name = False, capability, capability.id
        else:
            by_id, name = True, id_asked_for(capability)
            known = run.app.governance.registry.get(name)
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
        if known is None or (by_id and _was_unknown(taken.id)):
            _note_unknown(taken.id)
            unknown = CapabilityError("CAPABILITY_NOT_FOUND", audit_reason="unknown")
            return await _refuse(name, ask, taken, unknown, cancellations)
        asked = Asked(
            known,
            _execution_id(taken.id),
            None if taken.repeat_of is None else _execution_id(taken.repeat_of),
            decode=not by_id,
        )
        sent = Sent(raw.json, ask, taken.id, taken.repeat_of, self._task_queue)
        if is_local(run, known, self._task_queue):
            execution = await execute_locally(asked, raw.json, ask, taken.id, cancellations)
        else:
            await run.outbox.room(len(raw.json) + len(context))
            execution = await execute_and_settle(asked, sent, cancellations)
        return await self._concluded(execution, asked, sent, cancellations, wait=wait)

    @overload
    async def run_again(
        self, capability: Capability[I, O], envelope: Failed, *, wait: bool = ...
    ) -> ExecutionResult[O]: ...

    @overload
    async def run_again(
        self, capability: str, envelope: Failed, *, wait: bool = ...
    ) -> ExecutionResult[object]: ...

    async def run_again(
        self, capability: Capability[I, O] | str, envelope: Failed, *, wait: bool = True
    ) -> ExecutionResult[O] | ExecutionResult[object]:
        """Runs an execution once more of which `reconcile` says that it did not happen.

        The same execution, with the same input, requester and key: a new series of attempts.

        Args:
            capability: The capability that was asked for, or its id.
            envelope: How it ended; ``reconciled`` is ``did_not_happen``.
            wait: As for `invoke`.

        Returns:
            The envelope of all its attempts.

        Raises:
            StepError: It did not end so, was run again already, or was not asked for in this run
                and by this requester. What a person approved is not: an approval executes once,
                and runs it again only by itself.
            asyncio.CancelledError: The calling task was cancelled.
        """
        run = current_run()
        await deliver_cancellation(run)
        cancellations = Cancellations(run)
        absent = run.absent.get(envelope.execution_id)
        if (
            envelope.reconciled != "did_not_happen"
            or absent is None
            or absent.asked.capability.id != id_asked_for(capability)
            or (absent.sent.ask.actor, absent.sent.ask.surface) != (self._actor, self._surface)
        ):
            raise StepError(
                "only an execution of this run, capability and requester that did not happen can "
                "be run again, and only once for each time it was asked about"
            )
        del run.absent[envelope.execution_id]
        asked, sent = absent.asked, absent.sent
        await run.outbox.room(len(sent.data))
        execution = await execute_and_settle(asked, sent, cancellations, absent.next)
        return await self._concluded(execution, asked, sent, cancellations, wait=wait)

    async def _concluded(
        self,
        execution: Execution,
        asked: Asked,
        sent: Sent,
        cancellations: Cancellations,
        *,
        wait: bool,
    ) -> ExecutionResult[Any]:  # of the capability's own output
        """Has recorded what no worker saw, and asks a person where one must approve."""
        run, ask = current_run(), sent.ask
        envelope, demand = execution.answer.envelope, execution.demand
        if type(envelope) is Completed:
            cancellations.hand_on()
            return envelope
        if not execution.answer.seen:
            envelope = await record_unseen(ask, sent.step, execution.answer, cancellations)
        if isinstance(envelope, ApprovalRequired) and cancellations.arrived:
            # Nobody is asked any more.
            ended = Answer(_not_asked(envelope), seen=False)
            envelope = await record_unseen(ask, sent.step, ended, cancellations)
        elif isinstance(envelope, ApprovalRequired) and demand:
            pending = self._pending(run, asked, envelope, demand, sent)
            if pending.record.execution_id != envelope.execution_id:
                await record_joined(pending, ask, envelope, cancellations)
            if wait:
                envelope = await _decided(pending, asked, envelope, cancellations)
            else:
                # Not before the server has it: the workflow may end right after this.
                await cancellations.until_done(pending.begun, stop=False)
                envelope = _waiting(pending, envelope)
        cancellations.hand_on()
        return envelope

    async def outcome(
        self, capability: Capability[I, O] | str, envelope: ApprovalRequired
    ) -> ExecutionResult[O] | ExecutionResult[object]:
        """Waits for the outcome of an approval that was asked for with ``wait=False``.

        Args:
            capability: The capability that was asked for, or its id.
            envelope: What `invoke` gave.

        Returns:
            The final envelope.

        Raises:
            StepError: The approval was not asked for in this run.
            asyncio.CancelledError: The calling task was cancelled.
        """
        run = current_run()
        await deliver_cancellation(run)
        cancellations = Cancellations(run)
        pending = run.approvals.by_id.get(envelope.approval_id or "")
        name = id_asked_for(capability)
        if pending is None or pending.record.capability != name:
            raise StepError(
                "this approval was not asked for in this run, or for another capability"
            )
        outcome = await wait_for(pending, cancellations)
        cancellations.hand_on()
        if isinstance(capability, Capability):
            outcome = typed(outcome, Asked(capability, outcome.execution_id, None, decode=True))
        return dataclasses.replace(outcome, joined=envelope.joined)

    def _pending(
        self,
        run: GovernedRun,
        asked: Asked,
        envelope: ApprovalRequired,
        demand: Demand,
        sent: Sent,
    ) -> Pending:
        """Has a person asked, or joins the identical request that is waiting already."""
        key = key_of(asked.capability.id, self._actor, demand.input_hash)
        pending = run.approvals.open(key)
        if pending is not None:
            return pending
        request = request_of(
            asked.capability,
            demand,
            envelope.execution_id,
            actor=self._actor,
            surface=self._surface,
            now=workflow.now(),
            workflow_id=workflow.info().workflow_id,
            correlation_id=self._correlation_id,
            repeat_of=envelope.repeat_of,
            task_queue=self._task_queue,
        )
        return ask_person(run, key, request, sent.ask, sent.step)


def _not_asked(envelope: ApprovalRequired) -> Cancelled:
    """The envelope of a request that was cancelled before a person was asked, in this run.

    An earlier run may have asked, and then whoever approves has it executed all the same.
    """
    return Cancelled(
        execution_id=envelope.execution_id,
        capability=envelope.capability,
        attempts=envelope.attempts,
        errors=envelope.errors,
        effect="possible" if follows_another_run() else envelope.effect,
        repeat_of=envelope.repeat_of,
        error=CapabilityError("CANCELLED", stage="approval").public(),
    )


def _waiting(pending: Pending, envelope: ApprovalRequired) -> ApprovalRequired:
    """The envelope of a request that is not waited for."""
    record, own = pending.record, envelope.execution_id
    return dataclasses.replace(
        envelope,
        execution_id=record.execution_id,
        approval_id=record.id,
        expires_at=record.expires_at,
        joined=None if own == record.execution_id else own,
    )


async def _decided(
    pending: Pending, asked: Asked, envelope: ApprovalRequired, cancellations: Cancellations
) -> ExecutionResult[object]:
    """The envelope that the approval comes to."""
    own = envelope.execution_id
    final = typed(await wait_for(pending, cancellations), asked)
    return final if own == pending.record.execution_id else dataclasses.replace(final, joined=own)


def _execution_id(step_id: str) -> str:
    info = workflow.info()
    return workflow_execution_id(
        info.namespace, info.workflow_id, info.original_execution_run_id, step_id
    )


def _was_unknown(step_id: str) -> bool:
    """Whether the build that met this request first did not know what it asked for.

    Its answer is in history: a later build, which has the capability by now, must give the same one
    when it replays the run, or the workflow task fails for ever.
    """
    return workflow.unsafe.is_replaying() and workflow.patched(_mark_of(step_id))


def _note_unknown(step_id: str) -> None:
    if not is_doubtful(current_run()):
        workflow.patched(_mark_of(step_id))  # a marker; in a history of before these, nothing


def _mark_of(step_id: str) -> str:
    # Without the name that was asked for, because marks are also in a search attribute; and without
    # the namespace, which a replayer does not know.
    return f"temperance-unknown-{hash_bytes(step_id.encode())[:16]}"


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
