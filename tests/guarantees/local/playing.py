"""Workers and workflows for the tests of this folder."""

import dataclasses
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client, WorkflowHandle
from temporalio.common import RetryPolicy
from temporalio.worker import Replayer, Worker

from temperance import App, Capability, MemorySink, TemperancePlugin
from temperance.embedded import EmbeddedServer
from temperance.runtime.envelope import Cancelled, Failed
from tests.guarantees.local.capabilities import ALL, ENTERED, How, Question, Rule, app_of
from tests.guarantees.local.workflows import Ask, Found, Group, Plan, Reader
from tests.guarantees.stopping.scenes import SCENES, Scene
from tests.support.history import event_names, history_events
from tests.support.waiting import wait_until

Handle = WorkflowHandle[Reader, list[Found]]


class Stand:
    """A server with an application, its queue and its events."""

    def __init__(self, client: Client, queue: str, app: App, sink: MemorySink) -> None:
        self.client = client
        self.queue = queue
        self.app = app
        self.sink = sink

    @classmethod
    async def at(
        cls,
        server: EmbeddedServer,
        queue: str,
        served: Sequence[Capability[Any, Any]] = ALL,
    ) -> "Stand":
        sink = MemorySink()
        app = app_of([sink], served)
        client = await server.connect(plugins=[TemperancePlugin(app)])
        return cls(client, queue, app, sink)

    @asynccontextmanager
    async def worker(
        self, queue: str | None = None, *, grace: timedelta = timedelta(milliseconds=1)
    ) -> AsyncGenerator[Worker]:
        """A worker of the application and the workflows."""
        async with Worker(
            self.client,
            task_queue=queue or self.queue,
            workflows=[Reader, Group],
            graceful_shutdown_timeout=grace,
        ) as running:
            yield running

    def ask(
        self,
        capability: str,
        name: str,
        *how: How,
        rule: Rule = "none",
        size: int = 0,
        step: str | None = None,
        queue: str | None = None,
        note: str = "",
        padding: int = 0,
    ) -> Ask:
        """A request of this test alone."""
        case = f"{self.queue}-{name}"
        assert SCENES[case] is not None  # made here, in the test's own loop
        question = Question(name=case, how=how or ("return",), rule=rule, size=size, note=note)
        return Ask(
            capability=capability, question=question, step=step, queue=queue, padding=padding
        )

    async def start(
        self,
        *asks: Ask,
        id_: str | None = None,
        plan: Plan | None = None,
        hold: bool = False,
        task_timeout: timedelta | None = None,
        retry_policy: RetryPolicy | None = None,
    ) -> Handle:
        """Starts a workflow that asks for these; its id is the queue's unless given."""
        return await self.client.start_workflow(
            Reader.run,
            plan or Plan(asks=asks, hold=hold),
            id=id_ or self.queue,
            task_queue=self.queue,
            task_timeout=task_timeout,
            retry_policy=retry_policy,
        )

    async def until(self, handle: Handle, count: int) -> list[Found]:
        """The envelopes of a workflow that holds, once there are so many."""

        async def enough() -> list[Found]:
            found: list[Found] = await handle.query(Reader.so_far)
            return found if len(found) >= count else []

        return await wait_until(enough)

    async def events(self, handle: Handle) -> list[HistoryEvent]:
        """Its history."""
        return await history_events(self.client, handle.id)

    async def names(self, handle: Handle) -> list[str]:
        """The types of the events in its history."""
        return event_names(await self.events(handle))

    async def steps(self, handle: Handle, run_id: str | None = None) -> list[str]:
        """The step ids of its local activities, as its history has them."""
        found: list[str] = []
        for event in await history_events(self.client, handle.id, run_id):
            marker = event.marker_recorded_event_attributes
            if marker.marker_name == "core_local_activity":
                data: dict[str, str] = json.loads(marker.details["data"].payloads[0].data)
                found.append(data["activity_id"])
        return found

    def run_of(self, handle: Handle, run_id: str) -> Handle:
        """Another run of the same workflow."""
        return self.client.get_workflow_handle(handle.id, run_id=run_id, result_type=list[Found])

    async def replay(self, handle: Handle, app: App | None = None) -> None:
        """Replays its history: without drift, handler or event."""
        entered = len(ENTERED)
        events = MemorySink()
        app = dataclasses.replace(app or self.app, sinks=(events,))
        replayer = Replayer(workflows=[Reader, Group], plugins=[TemperancePlugin(app)])
        await replayer.replay_workflow(await handle.fetch_history())
        assert len(ENTERED) == entered
        assert events.events == []

    async def told_again(self, handle: Handle) -> list[Found]:
        """What the workflow was answered, as another worker rebuilds it from history."""
        async with self.worker():
            return await handle.query(Reader.so_far)

    def trail(self, envelope: Found) -> list[tuple[str, int]]:
        """The types of the events of an execution, each with its attempt."""
        return [
            (event.type.removeprefix("capability."), event.attempt)
            for event in self.sink.events
            if event.execution_id == envelope.execution_id
        ]


def scene(ask: Ask) -> Scene:
    """What happens in a request."""
    return SCENES[ask.question.name]


def entries(ask: Ask) -> list[tuple[str, str, int]]:
    """Execution id, key and attempt of each time that its handler was entered."""
    return [entry[1:] for entry in ENTERED if entry[0] == ask.question.name]


def code_of(envelope: Found) -> str | None:
    """The code of an envelope, where it has one."""
    return envelope.code if isinstance(envelope, Failed | Cancelled) else None
