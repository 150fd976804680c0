"""What a test of payments has at hand."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from temporalio.client import Client
from temporalio.worker import Worker

from temperance import App, MemorySink
from tests.guarantees.reconcile.gateway import Gateway
from tests.guarantees.reconcile.payments import Payment
from tests.guarantees.reconcile.workflows import (
    Answer,
    Misnames,
    Pays,
    PaysAgain,
    PaysElsewhere,
    Retried,
)


@dataclass(frozen=True)
class House:
    """A client, the gateway, and what the workers in this process recorded."""

    client: Client
    queue: str
    app: App
    gateway: Gateway
    events: MemorySink

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[Worker]:
        """A worker in this process."""
        async with Worker(
            self.client,
            task_queue=self.queue,
            workflows=[Pays, PaysAgain, PaysElsewhere, Misnames, Retried],
            graceful_shutdown_timeout=timedelta(milliseconds=1),
        ) as worker:
            yield worker

    async def pays(self, capability: str, payment: Payment) -> Answer:
        """One payment by a workflow of its own."""
        return await self.client.execute_workflow(
            Pays.run,
            args=[capability, payment],
            id=f"{self.queue}-{payment.label}",
            task_queue=self.queue,
            # One that was handed to a worker which died is soon handed to another.
            task_timeout=timedelta(seconds=1),
        )

    def trail(self, execution_id: str) -> list[str]:
        """The event types of an execution."""
        return [type_.partition(".")[2] for type_ in self.events.types(execution_id)]
