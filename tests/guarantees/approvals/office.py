"""One application, its books and its people: asks, decides, and reads what the server has."""

import dataclasses
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.common import RetryPolicy
from temporalio.converter import DataConverter, PayloadCodec
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from temperance import (
    Actor,
    App,
    ApprovalRequired,
    CapabilityError,
    MemorySink,
    TemperanceClient,
    TemperancePlugin,
)
from temperance.approvals import Approvals
from temperance.embedded import EmbeddedServer
from temperance.runtime.approval import ApprovalRecord, ApprovalRequest, approval_id
from temperance.runtime.canonical import hash_bytes
from temperance.runtime.event import TERMINAL
from temperance.runtime.gate import ask as gate_ask
from temperance.runtime.gate import demand_of
from temperance.runtime.identity import workflow_execution_id
from temperance.runtime.names import APPROVAL_WORKFLOW, DECIDE_UPDATE
from temperance.runtime.request import Request
from temperance.workflows.approval_options import memo_of, request_of
from tests.guarantees.approvals.capabilities import CAPABILITIES
from tests.guarantees.approvals.payments import Act, Answers, Ask, Payment, Plan
from tests.guarantees.approvals.workflows import Asking
from tests.guarantees.runs.books import Books
from tests.support.history import event_names, history_events
from tests.support.waiting import wait_until

ADA = Actor(id="ada")
"""Who asks."""

BOB = Actor(id="bob")
EVE = Actor(id="eve", kind="service")

Handle = WorkflowHandle[Asking, Answers]

# The checkers do not see the class in an unbound method.
_RUN: Callable[[Asking, Plan], Awaitable[Answers]] = Asking.run


def ask(
    capability: str,
    label: str,
    act: Act = "return",
    *,
    step: str | None = None,
    wait: bool = True,
    cents: int = 100,
    actor: str = "ada",
    queue: str | None = None,
) -> Ask:
    """A request of `pay.<capability>`."""
    payment = Payment(label=label, act=act, cents=cents)
    name = f"pay.{capability}"
    return Ask(capability=name, payment=payment, step=step, wait=wait, actor=actor, queue=queue)


@dataclass(frozen=True)
class Office:
    """A client of an application, on a task queue of its own.

    `events` is what its workers in this process have recorded.
    """

    client: Client
    app: App
    queue: str
    books: Books
    events: MemorySink

    @property
    def approvals(self) -> Approvals:
        """Its approvals, as people decide them."""
        return Approvals(self.client)

    @classmethod
    async def opened(
        cls,
        server: EmbeddedServer,
        app: App,
        queue: str,
        books: Books,
        events: MemorySink,
        *,
        codec: PayloadCodec | None = None,
    ) -> "Office":
        """The office of an application."""
        client = await Client.connect(
            server.target_host,
            plugins=[TemperancePlugin(app)],
            data_converter=dataclasses.replace(DataConverter.default, payload_codec=codec),
        )
        return cls(client, app, queue, books, events)

    @asynccontextmanager
    async def worker(
        self, *, queue: str | None = None, cached: int = 1000, slots: int = 100
    ) -> AsyncGenerator[Worker]:
        """A worker in this process, which makes no allowance for what still runs at its end."""
        async with Worker(
            self.client,
            task_queue=queue or self.queue,
            workflows=[Asking],
            max_cached_workflows=cached,
            max_concurrent_activities=slots,
            graceful_shutdown_timeout=timedelta(milliseconds=1),
        ) as running:
            yield running

    async def request(
        self, capability: str, label: str, act: Act = "return", *, cents: int = 100
    ) -> str:
        """Asks for one execution without a workflow, and gives the id of its approval."""
        one = TemperanceClient(self.client, self.app, actor=ADA, task_queue=self.queue)
        payment = Payment(label=label, act=act, cents=cents)
        envelope = await one.invoke(f"pay.{capability}", payment)
        assert isinstance(envelope, ApprovalRequired), envelope
        assert envelope.approval_id is not None
        return envelope.approval_id

    async def begin(
        self,
        capability: str,
        label: str,
        act: Act = "return",
        *,
        expires_in: timedelta | None = None,
        **start: object,
    ) -> str:
        """Starts an approval as whoever asks does, with the given options of `start_workflow`."""
        request = approval_request(capability, Payment(label=label, act=act), expires_in)
        options: dict[str, Any] = {
            "id": request.record.id,
            "task_queue": self.queue,
            "memo": memo_of(request.record),
            **start,
        }
        await self.client.start_workflow(APPROVAL_WORKFLOW, request, **options)
        return request.record.id

    async def start(
        self, *asks: Ask, retry_policy: RetryPolicy | None = None, **plan: object
    ) -> Handle:
        """Starts a workflow that asks for these; its id is the queue's."""
        return await self.client.start_workflow(
            Asking.run,
            Plan.model_validate({"asks": asks, **plan}),
            id=self.queue,
            task_queue=self.queue,
            # How long the server waits for a worker that died while it ran workflow code.
            task_timeout=timedelta(seconds=1),
            retry_policy=retry_policy,
        )

    def run_of(self, handle: Handle, run_id: str) -> Handle:
        """One run of a workflow."""
        return self.client.get_workflow_handle_for(_RUN, handle.id, run_id=run_id)

    def asked_by(self, handle: Handle, step: str) -> str:
        """The id of the approval that a workflow's step asked for."""
        run = str(handle.first_execution_run_id)
        namespace = self.client.namespace
        return approval_id(workflow_execution_id(namespace, handle.id, run, step))

    async def until_asked(self, approval: str) -> ApprovalRecord:
        """The record of an approval, once it is there."""

        async def shown() -> ApprovalRecord | None:
            try:
                return await self.approvals.show(approval)
            except CapabilityError as error:
                if error.code != "CAPABILITY_NOT_FOUND":
                    raise
                return None

        record = await wait_until(shown)
        assert record is not None
        return record

    async def waiting(self, approval: str) -> list[str]:
        """The types of the events of an approval, once all it does is to wait."""

        async def waits() -> list[str]:
            names = await self.names(approval)
            return names if names[-1] == "TIMER_STARTED" else []

        return await wait_until(waits, timedelta(seconds=90))

    async def answers(self, handle: Handle, count: int) -> Answers:
        """The envelopes of a workflow that holds, once there are so many."""

        async def enough() -> Answers:
            found: Answers = await handle.query(Asking.answers)
            return found if len(found) >= count else []

        return await wait_until(enough)

    async def until_entered(self, label: str, times: int = 1) -> None:
        """Waits until a handler was entered so many times."""

        async def entered() -> bool:
            return len(self.books.entries(label)) >= times

        await wait_until(entered)

    async def history(self, workflow_id: str, run_id: str | None = None) -> list[HistoryEvent]:
        """The events of a workflow."""
        return await history_events(self.client, workflow_id, run_id)

    async def names(self, workflow_id: str, run_id: str | None = None) -> list[str]:
        """The types of the events of a workflow."""
        return event_names(await self.history(workflow_id, run_id))

    def trail(self, execution_id: str) -> list[str]:
        """What was recorded of an execution; that one event closes it is looked at here."""
        types = self.events.types(execution_id)
        assert sum(type_ in TERMINAL for type_ in types) == 1, types
        assert types[-1] in TERMINAL
        return [type_.removeprefix("capability.") for type_ in types]


def approval_request(
    capability: str, payment: Payment, expires_in: timedelta | None = None
) -> ApprovalRequest:
    """What an approval of a payment is started with, as an attempt would have demanded it."""
    entry = next(entry for entry in CAPABILITIES if entry.id == f"pay.{capability}")
    data = entry.input_schema.canonical(payment)
    execution_id = str(uuid4())
    request = Request(
        entry, payment, hash_bytes(data), ADA, surface="direct", execution_id=execution_id
    )
    demand = demand_of(entry, None)
    assert demand is not None
    if expires_in is not None:
        demand = dataclasses.replace(demand, expires_in=expires_in)
    return request_of(
        entry,
        gate_ask(demand, request, None),
        execution_id,
        actor=ADA,
        surface="direct",
        now=datetime.now(UTC),
        workflow_id=None,
    )


async def refused(decision: Awaitable[ApprovalRecord]) -> str:
    """The code that a decision is refused with."""
    with pytest.raises(CapabilityError) as error:
        await decision
    return error.value.code


async def raw_refused(
    client: Client, approval: str, sent: JsonValue, update: str = DECIDE_UPDATE
) -> tuple[str | None, str]:
    """The failure that whatever is sent as a decision is refused with."""
    handle = client.get_workflow_handle(approval)
    with pytest.raises(WorkflowUpdateFailedError) as error:
        await handle.execute_update(update, sent)
    cause = error.value.cause
    assert isinstance(cause, ApplicationError)
    return cause.type, cause.message
