"""Clients, workers and handles for the tests of this folder."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Interceptor, Worker

from temperance import ExecutionResult, MemorySink
from temperance.embedded import EmbeddedServer
from temperance.plugin import TemperancePlugin
from temperance.runtime.envelope import Cancelled as CancelledEnvelope
from temperance.runtime.envelope import Failed
from temperance.runtime.sink import Sink
from tests.guarantees.stopping.capabilities import Case, How, Mark, app_with
from tests.guarantees.stopping.scenes import SCENES
from tests.guarantees.stopping.workflows import Cancelled, Envelopes, Foreign, Plan
from tests.support.history import event_names, history_events
from tests.support.waiting import wait_until

Handle = WorkflowHandle[Cancelled, Envelopes]


class Stand:
    """A server with the application of a test, its queue and its events."""

    def __init__(self, client: Client, queue: str, sink: MemorySink) -> None:
        self.client = client
        self.queue = queue
        self.sink = sink

    @classmethod
    async def at(
        cls,
        server: EmbeddedServer,
        queue: str,
        *sinks: Sink,
        sink_timeout: timedelta = timedelta(seconds=1),
        policy_timeout: timedelta = timedelta(seconds=5),
        strict_audit: bool = False,
    ) -> "Stand":
        sink = MemorySink()
        app = app_with(
            sink,
            *sinks,
            sink_timeout=sink_timeout,
            policy_timeout=policy_timeout,
            strict_audit=strict_audit,
        )
        client = await server.connect(plugins=[TemperancePlugin(app)])
        return cls(client, queue, sink)

    @asynccontextmanager
    async def worker(
        self,
        queue: str | None = None,
        *,
        activities_only: bool = False,
        grace: timedelta = timedelta(milliseconds=1),
        interceptors: Sequence[Interceptor] = (),
    ) -> AsyncGenerator[Worker]:
        """A worker of the application and the workflow."""
        async with Worker(
            self.client,
            task_queue=queue or self.queue,
            workflows=[] if activities_only else [Cancelled, Foreign],
            graceful_shutdown_timeout=grace,
            interceptors=interceptors,
        ) as running:
            yield running

    async def start(
        self,
        capability: str,
        *cases: Case,
        manner: str = "then wait",
        queue: str | None = None,
        task_timeout: timedelta | None = None,
    ) -> Handle:
        """Starts a workflow; its id is the name of its first case."""
        return await self.client.start_workflow(
            Cancelled.run,
            Plan(capability=capability, cases=cases, manner=manner, queue=queue),
            id=cases[0].name,
            task_queue=self.queue,
            task_timeout=task_timeout,
        )

    def case(self, name: str, *how: How) -> Case:
        """A case of this test alone."""
        case = Case(name=f"{self.queue}-{name}", how=how or ("return",))
        assert SCENES[case.name].entries == 0  # made here, in the test's own loop
        return case

    def trail(self, envelope: ExecutionResult[Mark]) -> list[str]:
        """The types of the events of an execution."""
        return [
            type_.removeprefix("capability.") for type_ in self.sink.types(envelope.execution_id)
        ]

    async def events(self, handle: Handle) -> list[str]:
        """The types of the events in history."""
        return event_names(await history_events(self.client, handle.id))

    async def until_event(self, handle: Handle, name: str) -> None:
        """Waits until the server has written an event of this type."""

        async def written() -> bool:
            return name in await self.events(handle)

        await wait_until(written)


async def end_of(handle: Handle) -> str:
    """Waits for the end of a workflow, and names it as the server does."""

    async def closed() -> str | None:
        described = await handle.describe()
        name = "" if described.status is None else described.status.name
        return None if name == "RUNNING" else name

    return str(await wait_until(closed))


async def envelopes_of(handle: Handle) -> Envelopes:
    """What a workflow was answered; needs a worker."""
    return await handle.query(Cancelled.envelopes)


async def only_envelope(handle: Handle) -> ExecutionResult[Mark]:
    """What a workflow that asked once was answered."""
    (envelope,) = await envelopes_of(handle)
    return envelope


def code_of(envelope: ExecutionResult[Mark]) -> str | None:
    """The code of an envelope, where it has one."""
    return envelope.code if isinstance(envelope, Failed | CancelledEnvelope) else None


async def notes_of(handle: Handle) -> list[str]:
    """What a workflow noted."""
    return await handle.query(Cancelled.notes)
