"""What a test of payments has at hand."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from temporalio.client import Client
from temporalio.worker import Worker

from temperance import Actor, App, Approvals, MemorySink
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
from tests.support.waiting import wait_until


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

    async def pays_when_approved(self, payment: Payment, by: Actor) -> tuple[Answer, str]:
        """One payment that a person approves, and the approval's id."""
        approvals = Approvals(self.client)
        paying = asyncio.ensure_future(self.pays("pay.approved", payment))
        pending: list[str] = []

        async def asked() -> bool:
            pending[:] = [
                found.id
                async for found in approvals.list("pending", capability="pay.approved")
                if found.workflow_id == f"{self.queue}-{payment.label}"
            ]
            return bool(pending)

        await wait_until(asked)
        await approvals.approve(pending[0], approver=by)
        return await paying, pending[0]

    def trail(self, execution_id: str) -> list[str]:
        """The event types of an execution."""
        return [type_.partition(".")[2] for type_ in self.events.types(execution_id)]
