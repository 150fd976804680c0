"""One request without a workflow: a standalone activity (DESIGN section 6).

For a command line, an HTTP handler or a tool call that has no workflow around it. The same attempt
code, the same envelope, a third of the time of a workflow around one activity.
"""

from typing import Any, TypeVar, overload
from uuid import uuid4

from temporalio.client import Client

from temperance.client_reconcile import settled_by_client
from temperance.client_record import record_unseen_end
from temperance.repeated_request import is_taken, same_request
from temperance.runtime.actor import Actor, check_requester
from temperance.runtime.app import App
from temperance.runtime.capability import Capability, id_asked_for
from temperance.runtime.envelope import ExecutionResult, Failed
from temperance.runtime.error import CapabilityError
from temperance.runtime.identity import check_identifier, standalone_execution_id
from temperance.runtime.messages import Ask
from temperance.runtime.names import Surface
from temperance.runtime.request import WorkflowRef
from temperance.runtime.series import AGAIN, RECONCILE, is_own_step
from temperance.single_request import SingleRequest
from temperance.workflows.raw_input import raw_input, refusal

I = TypeVar("I")  # noqa: E741 - input, as in DESIGN section 4
O = TypeVar("O")  # noqa: E741 - output


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
        request = SingleRequest(
            client=self._client,
            app=self._app,
            task_queue=self._task_queue,
            capability=known,
            data=raw.json,
            ask=ask,
            id=id_,
            decode=not by_id,
            wait=wait,
        )
        handle = await request.start(given=request_id is not None)
        repeated = handle is None
        if handle is None:
            handle = await same_request(self._client, id_, known, raw, ask)
        if handle is None:
            return await self._refused(name, ask, id_, _mismatch())
        outcome = await request.outcome(handle)
        return await settled_by_client(request, handle, outcome, repeated=repeated)

    async def _refused(self, name: str, ask: Ask, id_: str, error: CapabilityError) -> Failed:
        envelope = Failed(
            execution_id=standalone_execution_id(self._client.namespace, id_, ""),
            capability=name,
            error=error.public(),
        )
        await record_unseen_end(
            self._app,
            envelope,
            ask,
            WorkflowRef(id_, "", id_),
            requested=True,
            reason=error.audit_reason,
        )
        return envelope


def _mismatch() -> CapabilityError:
    message = "The same request id was used for another request."
    return CapabilityError("STEP_INPUT_MISMATCH", message)
