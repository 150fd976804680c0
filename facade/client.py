"""One request without a workflow: a standalone activity (DESIGN section 6).

For a command line, an HTTP handler or a tool call that has no workflow around it. The same attempt
code, the same envelope, a third of the time of a workflow around one activity.
"""

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

from temperance.runtime.actor import Actor
from temperance.runtime.app import App
from temperance.runtime.capability import Capability
from temperance.runtime.envelope import ExecutionResult, Failed
from temperance.runtime.error import CapabilityError
from temperance.runtime.identity import check_identifier, standalone_execution_id
from temperance.runtime.messages import Ask
from temperance.runtime.names import Surface
from temperance.workflows.options import derive_options, summary_of
from temperance.workflows.raw_input import RawInput, raw_input
from temperance.workflows.reading import Asked, read_failure, read_result

I = TypeVar("I")  # noqa: E741 - input, as in DESIGN section 4
O = TypeVar("O")  # noqa: E741 - output

_JSON = {"encoding": b"json/plain"}


class TemperanceClient:
    """Requests single executions on behalf of an actor.

    Args:
        client: A connected client; its plugin is not needed here.
        app: The application: metadata of the capabilities, and the default task queue.
        actor: The authenticated requester.
        surface: Through which door the requests come.
        task_queue: Where the workers listen; the application's own unless given.
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
    ) -> ExecutionResult[O]: ...

    @overload
    async def invoke(
        self,
        capability: str,
        input: object,
        *,
        request_id: str | None = ...,
        correlation_id: str | None = ...,
    ) -> ExecutionResult[object]: ...

    async def invoke(
        self,
        capability: Capability[I, O] | str,
        input: object,
        *,
        request_id: str | None = None,
        correlation_id: str | None = None,
    ) -> ExecutionResult[O] | ExecutionResult[object]:
        """Requests one execution and waits for its envelope.

        Args:
            capability: The capability, or its id.
            input: An instance of the input model, a JSON-like value, or ``bytes`` of JSON;
                with an id also JSON as ``str``.
            request_id: The request's own id. Sent twice it runs once: the second request gets the
                first one's envelope. A random one unless given.
            correlation_id: The application's own id, passed through to audit events.

        Returns:
            The envelope. The same ``request_id`` with another capability or input gives
            STEP_INPUT_MISMATCH, and nothing is run.

        Raises:
            ValueError: A malformed ``request_id`` or ``correlation_id``.
            temporalio.service.RPCError: The server cannot be reached, or refuses the call.
        """
        if request_id is not None:
            check_identifier("request_id", request_id)
        if correlation_id is not None:
            check_identifier("correlation_id", correlation_id)
        by_id = isinstance(capability, str)
        name = capability if isinstance(capability, str) else capability.id
        known: Capability[Any, Any] | None = (
            self._app.governance.registry.get(capability)
            if isinstance(capability, str)
            else capability
        )
        activity_id = request_id or str(uuid4())
        if known is None:
            return self._refused(name, activity_id, CapabilityError("CAPABILITY_NOT_FOUND"))
        try:
            raw = raw_input(known, input, by_id=by_id)
        except ValueError:
            return self._refused(name, activity_id, CapabilityError("INPUT_INVALID"))
        limit = self._app.payload_limit
        if len(raw.json) > limit:
            error = CapabilityError(
                "PAYLOAD_TOO_LARGE",
                f"The input has {len(raw.json)} bytes; at most {limit} can be carried.",
                stage="input",
                details={"size": len(raw.json), "limit": limit},
            )
            return self._refused(name, activity_id, error)
        ask = Ask(actor=self._actor, surface=self._surface, correlation_id=correlation_id)
        handle = await self._start(known, raw, ask, activity_id, given=request_id is not None)
        if handle is None:
            existing = self._client.get_activity_handle(activity_id, result_type=RawValue)
            if not await _same_request(existing, known, raw):
                error = CapabilityError(
                    "STEP_INPUT_MISMATCH",
                    "The same request id was used for another request.",
                )
                return self._refused(name, activity_id, error)
            handle = existing
        return await self._envelope(handle, known, activity_id, decode=not by_id)

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
                **derive_options(capability),
            )
        except ActivityAlreadyStartedError:
            return None

    async def _envelope(
        self,
        handle: ActivityHandle[RawValue],
        capability: Capability[Any, Any],
        id_: str,
        *,
        decode: bool,
    ) -> ExecutionResult[object]:
        run_id = handle.run_id or (await handle.describe()).activity_run_id or ""
        execution_id = standalone_execution_id(self._client.namespace, id_, run_id)
        asked = Asked(capability, execution_id, None, decode)
        try:
            return read_result(asked, await handle.result())
        except ActivityFailureError as failure:
            return read_failure(asked, failure.cause).envelope

    def _refused(self, name: str, id_: str, error: CapabilityError) -> Failed:
        return Failed(
            execution_id=standalone_execution_id(self._client.namespace, id_, ""),
            capability=name[:200],
            error=error.public(),
        )


def _raw(data: bytes) -> RawValue:
    return RawValue(Payload(metadata=_JSON, data=data))


async def _same_request(
    handle: ActivityHandle[RawValue], capability: Capability[Any, Any], raw: RawInput
) -> bool:
    described = await handle.describe()
    if described.activity_type != capability.id:
        return False
    recorded = await described.input([RawValue, RawValue])
    if not recorded:
        return False
    earlier = raw_input(capability, recorded[0].payload.data, by_id=True)
    later = raw_input(capability, raw.json, by_id=True)
    return earlier.hash == later.hash
