"""One request without a workflow: a standalone activity (DESIGN section 6).

For a command line, an HTTP handler or a tool call that has no workflow around it. The same attempt
code, the same envelope, a third of the time of a workflow around one activity.
"""

import dataclasses
from typing import Any, TypeVar, overload
from uuid import uuid4

from temporalio.api.common.v1 import Payload
from temporalio.client import ActivityFailureError, ActivityHandle, Client
from temporalio.common import (
    ActivityIDConflictPolicy,
    ActivityIDReusePolicy,
    RawValue,
)
from temporalio.exceptions import ActivityAlreadyStartedError

from temperance.client_approval import approval_outcome, start_approval
from temperance.client_reconcile import settled_by_client
from temperance.repeated_request import is_taken, same_request
from temperance.runtime.actor import Actor, check_requester
from temperance.runtime.app import App
from temperance.runtime.attempt import record_end
from temperance.runtime.call import Asked as Demand
from temperance.runtime.call import Call
from temperance.runtime.capability import Capability, id_asked_for
from temperance.runtime.envelope import ApprovalRequired, Cancelled, ExecutionResult, Failed
from temperance.runtime.error import CapabilityError
from temperance.runtime.identity import check_identifier, standalone_execution_id
from temperance.runtime.messages import Ask
from temperance.runtime.names import Surface
from temperance.runtime.reconcile import is_open
from temperance.runtime.request import WorkflowRef
from temperance.runtime.series import AGAIN, RECONCILE, Series, is_own_step
from temperance.workflows.options import derive_options, summary_of
from temperance.workflows.raw_input import RawInput, raw_input, refusal
from temperance.workflows.reading import Asked, read_demand, read_result, typed
from temperance.workflows.reading_failure import read_failure

I = TypeVar("I")  # noqa: E741 - input, as in DESIGN section 4
O = TypeVar("O")  # noqa: E741 - output

_JSON = {"encoding": b"json/plain"}


class TemperanceClient:
    """Requests single executions on behalf of an actor.

    Args:
        client: A connected client; its plugin is not needed here.
        app: The application: metadata of the capabilities, the default task queue, and the sinks,
            in which this client records what no worker sees: refusals of its own and requests that
            no worker took. Where the application names no sinks, nothing is recorded here.
        actor: The authenticated requester.
        surface: Through which door the requests come.
        task_queue: Where the workers listen; the application's own unless given.

    Raises:
        TypeError: An actor that is none.
        ValueError: An unknown surface.
    """

    def __init__(
        self,
        client: Client,
        app: App,
        *,
        actor: Actor,
        surface: Surface = "direct",
        task_queue: str | None = None,
    ) -> None:
        check_requester(actor, surface)
        self._client = client
        self._app = app
        self._actor = actor
        self._surface: Surface = surface
        self._task_queue = task_queue or app.task_queue

    @overload
    async def invoke(
        self,
        capability: Capability[I, O],
        input: I | object,
        *,
        request_id: str | None = ...,
        correlation_id: str | None = ...,
        wait: bool = ...,
    ) -> ExecutionResult[O]: ...

    @overload
    async def invoke(
        self,
        capability: str,
        input: object,
        *,
        request_id: str | None = ...,
        correlation_id: str | None = ...,
        wait: bool = ...,
    ) -> ExecutionResult[object]: ...

    async def invoke(
        self,
        capability: Capability[I, O] | str,
        input: object,
        *,
        request_id: str | None = None,
        correlation_id: str | None = None,
        wait: bool = False,
    ) -> ExecutionResult[O] | ExecutionResult[object]:
        """Requests one execution and waits for its envelope.

        Args:
            capability: The capability, or its id.
            input: An instance of the input model, a JSON-like value, or ``bytes`` of JSON;
                with an id also JSON as ``str``.
            request_id: The request's own id. Sent twice it runs once: the second request gets the
                first one's envelope, as long as the server keeps it. A random one unless given.
            correlation_id: The application's own id, passed through to audit events.
            wait: Whether to wait where a person must approve. Unless given, the `ApprovalRequired`
                envelope is the answer; `Approvals.outcome` waits later. To stop waiting does not
                withdraw the request.

        Returns:
            The envelope. The same ``request_id`` with another capability, input, actor or surface
            gives STEP_INPUT_MISMATCH, and nothing is run.

        Raises:
            ValueError: A malformed ``request_id`` or ``correlation_id``.
            temporalio.service.RPCError: The server cannot be reached, or refuses the call.

        What did not happen is not run again from here: the request is at its end, and another one
        is another execution.
        """
        if request_id is not None:
            check_identifier("request_id", request_id)
            if is_own_step(request_id):
                raise ValueError(
                    f"request_id {request_id!r} reads like an id that the library makes: use "
                    f"neither {AGAIN!r} nor {RECONCILE!r} in it"
                )
        if correlation_id is not None:
            check_identifier("correlation_id", correlation_id)
        name = id_asked_for(capability)
        by_id = not isinstance(capability, Capability)
        known: Capability[Any, Any] | None = (
            capability
            if isinstance(capability, Capability)
            else self._app.governance.registry.get(name)
        )
        id_ = request_id or str(uuid4())
        ask = Ask(actor=self._actor, surface=self._surface, correlation_id=correlation_id)
        raw = raw_input(known, input, by_id=by_id)
        error = refusal(raw, ask.to_json(), self._app.payload_limit)
        if error is not None:
            return await self._refused(name, ask, id_, error)
        if known is None:
            # Nothing tells a hidden capability from an unknown one, an id in use included (G9).
            taken = request_id is not None and await is_taken(self._client, id_)
            unknown = CapabilityError("CAPABILITY_NOT_FOUND", audit_reason="unknown")
            return await self._refused(name, ask, id_, _mismatch() if taken else unknown)
        handle = await self._start(known, raw, ask, id_, given=request_id is not None)
        if handle is None:
            handle = await same_request(self._client, id_, known, raw, ask)
        if handle is None:
            return await self._refused(name, ask, id_, _mismatch())
        envelope = await self._envelope(handle, known, ask, id_, decode=not by_id, wait=wait)
        return await self._settled(envelope, known, raw, ask, handle, decode=not by_id)

    async def _settled(
        self,
        envelope: ExecutionResult[object],
        capability: Capability[Any, Any],
        raw: RawInput,
        ask: Ask,
        handle: ActivityHandle[RawValue],
        *,
        decode: bool,
    ) -> ExecutionResult[object]:
        """Finds out what became of a write whose outcome is unknown, where it can be asked."""
        reconcile = capability.reconcile
        if (
            reconcile is None
            or not isinstance(envelope, Failed)
            # An approval has asked by itself.
            or envelope.reconciled is not None
            or not is_open(capability.side_effect, envelope)
        ):
            return envelope
        errors = (*envelope.errors, envelope.error.code)
        return await settled_by_client(
            self._client,
            self._task_queue,
            Asked(capability, envelope.execution_id, None, decode),
            reconcile,
            envelope,
            data=raw.json,
            ask=ask,
            series=Series(handle.id, 1, envelope.attempts, errors, handle.run_id),
        )

    async def _start(
        self, capability: Capability[Any, Any], raw: RawInput, ask: Ask, id_: str, *, given: bool
    ) -> ActivityHandle[RawValue] | None:
        """Starts the activity; ``None`` where its id is taken."""
        reuse = (
            ActivityIDReusePolicy.REJECT_DUPLICATE
            if given
            else ActivityIDReusePolicy.ALLOW_DUPLICATE
        )
        try:
            return await self._client.start_activity(
                capability.id,
                args=[_raw(raw.json), _raw(ask.to_json())],
                id=id_,
                task_queue=self._task_queue,
                result_type=RawValue,
                id_reuse_policy=reuse,
                id_conflict_policy=ActivityIDConflictPolicy.FAIL,
                summary=summary_of(capability, self._actor),
                **derive_options(capability, self._app),
            )
        except ActivityAlreadyStartedError:
            return None

    async def _envelope(
        self,
        handle: ActivityHandle[RawValue],
        capability: Capability[Any, Any],
        ask: Ask,
        id_: str,
        *,
        decode: bool,
        wait: bool,
    ) -> ExecutionResult[object]:
        run_id = handle.run_id or ""
        execution_id = standalone_execution_id(self._client.namespace, id_, run_id)
        asked = Asked(capability, execution_id, None, decode)
        try:
            value = await handle.result()
        except ActivityFailureError as failure:
            answer = read_failure(asked, failure.cause)
        else:
            envelope = read_result(asked, value)
            if isinstance(envelope, ApprovalRequired) and (demand := read_demand(value)):
                return await self._approval(asked, ask, envelope, demand, wait=wait)
            return envelope
        if not answer.seen and isinstance(answer.envelope, Failed | Cancelled):
            await self._record(answer.envelope, ask, id_, run_id, requested=not answer.requested)
        return answer.envelope

    async def _approval(
        self, asked: Asked, ask: Ask, envelope: ApprovalRequired, demand: Demand, *, wait: bool
    ) -> ExecutionResult[object]:
        record = await start_approval(
            self._client,
            self._task_queue,
            asked.capability,
            demand,
            ask=ask,
            execution_id=envelope.execution_id,
        )
        if not wait:
            return dataclasses.replace(envelope, approval_id=record.id)
        answer = await approval_outcome(self._client, record)
        if not answer.seen and isinstance(answer.envelope, Failed):
            await self._record(answer.envelope, ask, record.id, "", requested=False)
        return typed(answer.envelope, asked)

    async def _refused(self, name: str, ask: Ask, id_: str, error: CapabilityError) -> Failed:
        envelope = Failed(
            execution_id=standalone_execution_id(self._client.namespace, id_, ""),
            capability=name,
            error=error.public(),
        )
        reason = error.audit_reason
        await self._record(envelope, ask, id_, "", requested=True, reason=reason)
        return envelope

    async def _record(
        self,
        envelope: Failed | Cancelled,
        ask: Ask,
        id_: str,
        run_id: str,
        *,
        requested: bool,
        reason: str | None = None,
    ) -> None:
        """Records an end that no worker saw, in the sinks of the application if it names some."""
        call = Call(
            capability_id=envelope.capability,
            raw=None,
            actor=ask.actor,
            surface=ask.surface,
            execution_id=envelope.execution_id,
            attempt=max(envelope.attempts, 1),
            correlation_id=ask.correlation_id,
            workflow=WorkflowRef(id_, run_id, id_),
        )
        await record_end(
            self._app,
            call,
            CapabilityError(envelope.code, stage=envelope.error.stage, audit_reason=reason),
            envelope.effect,
            cancelled=isinstance(envelope, Cancelled),
            requested=requested,
        )


def _mismatch() -> CapabilityError:
    message = "The same request id was used for another request."
    return CapabilityError("STEP_INPUT_MISMATCH", message)


def _raw(data: bytes) -> RawValue:
    return RawValue(Payload(metadata=_JSON, data=data))
