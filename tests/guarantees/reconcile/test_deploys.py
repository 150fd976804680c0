"""Declaring `reconcile`, or taking it back, breaks no workflow that is under way."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from temporalio.client import Client
from temporalio.worker import Worker

from temperance import Capability, TemperancePlugin
from tests.guarantees.reconcile.house import House
from tests.guarantees.reconcile.payments import (
    ASK_AND_RUN,
    Act,
    Payment,
    Receipt,
    app_of,
    write,
)
from tests.guarantees.reconcile.test_resets import answered
from tests.guarantees.reconcile.workflows import Pays

SILENT = write("pay.deployed")
ASKING = write("pay.deployed", reconcile=ASK_AND_RUN)


@asynccontextmanager
async def deployed(house: House, capability: Capability[Payment, Receipt]) -> AsyncGenerator[None]:
    """A worker of another build, which replays whatever it is given."""
    plugin = TemperancePlugin(app_of(house.gateway, [house.events], [capability]))
    host = house.client.service_client.config.target_host
    async with Worker(
        await Client.connect(host, plugins=[plugin]),
        task_queue=house.queue,
        workflows=[Pays],
        max_cached_workflows=0,
        graceful_shutdown_timeout=timedelta(milliseconds=1),
    ):
        yield


@pytest.mark.parametrize("act", ["raise after", "raise before"])
@pytest.mark.parametrize(
    ("before", "after"), [(SILENT, ASKING), (ASKING, SILENT)], ids=["declared", "taken back"]
)
async def test_g6_a_run_keeps_to_whether_it_asked(
    house: House,
    before: Capability[Payment, Receipt],
    after: Capability[Payment, Receipt],
    act: Act,
) -> None:
    """What the build before did is replayed by the one after it, and the workflow goes on."""
    async with deployed(house, before):
        handle = await house.client.start_workflow(
            Pays.run,
            args=["pay.deployed", Payment(label="a", act=act), True],
            id=house.queue,
            task_queue=house.queue,
        )
        first = await answered(handle)
    async with deployed(house, after):
        assert await answered(handle) == first
        await handle.signal(Pays.finish)
        assert await handle.result() == first
    assert (first.reconciled is None) == (before is SILENT or act == "raise before")
    assert len(house.gateway.entries("a")) == first.attempts
