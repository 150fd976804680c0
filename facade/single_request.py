"""One request without a workflow, from its activity to its envelope (DESIGN section 6)."""

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Final

from temporalio.api.common.v1 import Payload
from temporalio.client import ActivityFailureError, ActivityHandle, Client
from temporalio.common import ActivityIDConflictPolicy, ActivityIDReusePolicy, RawValue
from temporalio.exceptions import ActivityAlreadyStartedError

from temperance.client_approval import approval_outcome, start_approval
from temperance.client_record import record_unseen_end
from temperance.runtime.app import App
from temperance.runtime.call import Asked as Demand
from temperance.runtime.capability import Capability
from temperance.runtime.envelope import ApprovalRequired, Cancelled, ExecutionResult, Failed
from temperance.runtime.identity import standalone_execution_id
from temperance.runtime.messages import Ask
from temperance.runtime.request import WorkflowRef
from temperance.runtime.series import Series
from temperance.workflows.options import derive_options, summary_of
from temperance.workflows.reading import Asked, read_demand, read_result, typed
from temperance.workflows.reading_failure import read_failure

_JSON: Final = {"encoding": b"json/plain"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an activity came to.

    Args:
        envelope: The envelope.
        of_approval: Whether a person was asked: then the execution is the approval's own.
    """

    envelope: ExecutionResult[object] = field(repr=False)
    of_approval: bool = False


@dataclass(frozen=True, slots=True)
class SingleRequest:
    """A request, and where it is sent.

    Args:
        client: A connected client.
        app: The application.
        task_queue: Where the workers listen.
        capability: What is asked for, of any input and output.
        data: Its raw input as bytes of JSON.
        ask: The request context.
        id: The request id, which is that of the activity.
        decode: Whether the output is decoded to the capability's type, or left JSON-like.
        wait: Whether to wait where a person must approve.
    """

    client: Client = field(repr=False)
    app: App
    task_queue: str
    capability: Capability[Any, Any]
    data: bytes = field(repr=False)
    ask: Ask
    id: str
    decode: bool
    wait: bool

    async def start(
        self, *, given: bool, series: Series | None = None
    ) -> ActivityHandle[RawValue] | None:
        """Starts the activity; ``None`` where its id is taken.

        Args:
            given: Whether the id may be used once only, as long as the server keeps it.
            series: Where the request is run again: which time it is.

        Raises:
            temporalio.service.RPCError: The server cannot be reached, or refuses the call.
        """
        ask = self.ask if series is None else dataclasses.replace(self.ask, series=series)
        try:
            return await self.client.start_activity(
                self.capability.id,
                args=[raw_value(self.data), raw_value(ask.to_json())],
                id=self.id if series is None else series.again_id,
                task_queue=self.task_queue,
                result_type=RawValue,
                id_reuse_policy=(
                    ActivityIDReusePolicy.REJECT_DUPLICATE
                    if given
                    else ActivityIDReusePolicy.ALLOW_DUPLICATE
                ),
                id_conflict_policy=ActivityIDConflictPolicy.FAIL,
                summary=summary_of(self.capability, self.ask.actor),
                **derive_options(self.capability, self.app),
            )
        except ActivityAlreadyStartedError:
            return None

    async def outcome(
        self, handle: ActivityHandle[RawValue], series: Series | None = None
    ) -> Outcome:
        """Waits for the activity, and for the approval that it may ask for.

        Args:
            handle: The activity.
            series: Where the request is run again: which time it is.

        Raises:
            temporalio.service.RPCError: The server cannot be reached, or refuses the call.
        """
        first = (handle.run_id if series is None else series.run_id) or ""
        execution_id = standalone_execution_id(self.client.namespace, self.id, first)
        asked = Asked(self.capability, execution_id, None, self.decode, series)
        try:
            value = await handle.result()
        except ActivityFailureError as failure:
            answer = read_failure(asked, failure.cause)
        else:
            envelope = read_result(asked, value)
            if isinstance(envelope, ApprovalRequired) and (demand := read_demand(value)):
                return Outcome(await self._approval(asked, envelope, demand), of_approval=True)
            return Outcome(envelope)
        if not answer.seen and isinstance(answer.envelope, Failed | Cancelled):
            place = WorkflowRef(handle.id, handle.run_id or "", handle.id)
            # Of a further series it is on record since the first that it was requested.
            requested = not answer.requested and series is None
            await record_unseen_end(self.app, answer.envelope, self.ask, place, requested=requested)
        return Outcome(answer.envelope)

    async def _approval(
        self, asked: Asked, envelope: ApprovalRequired, demand: Demand
    ) -> ExecutionResult[object]:
        record = await start_approval(
            self.client,
            self.task_queue,
            asked.capability,
            demand,
            ask=self.ask,
            execution_id=envelope.execution_id,
        )
        if not self.wait:
            return dataclasses.replace(envelope, approval_id=record.id)
        answer = await approval_outcome(self.client, record)
        if not answer.seen and isinstance(answer.envelope, Failed):
            place = WorkflowRef(record.id, "", record.id)
            await record_unseen_end(self.app, answer.envelope, self.ask, place, requested=False)
        return typed(answer.envelope, asked)


def raw_value(data: bytes) -> RawValue:
    """Bytes of JSON as an argument."""
    return RawValue(Payload(metadata=_JSON, data=data))
