"""Declaring `reconcile`, or taking it back, breaks no workflow that is under way."""

import types
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker, WorkerConfig
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from temperance import (
    App,
    Capability,
    ConfigurationError,
    DidNotHappen,
    Event,
    Governance,
    Happened,
    MemorySink,
    Sink,
    TemperancePlugin,
    Unknown,
)
from temperance.workflows.options import derive_reconcile_options
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


async def test_an_activity_that_has_the_name_of_a_question_keeps_a_worker_from_starting(
    house: House,
) -> None:
    """The server could not tell them apart."""

    @activity.defn(name="pay.charge:reconcile")
    async def own() -> None: ...

    with pytest.raises(ConfigurationError, match=r"activity pay\.charge:reconcile"):
        Worker(house.client, task_queue=house.queue, activities=[own])


def test_g7_the_server_leaves_a_question_the_time_of_its_sinks() -> None:
    """Else it would close one whose answer is being recorded."""

    class Slow:
        async def record(self, event: Event) -> None: ...

    def given(*sinks: Sink) -> timedelta:
        app = App(Governance([ASKING]), sinks=sinks, sink_timeout=timedelta(seconds=7))
        return derive_reconcile_options(ASK_AND_RUN, app)["start_to_close_timeout"]

    assert given(Slow(), Slow()) - given() == timedelta(seconds=14)
    assert given(MemorySink()) == given() > ASK_AND_RUN.timeout


async def test_a_module_of_questions_is_not_executed_again_for_a_workflow(house: House) -> None:
    """It may be another than that of the handler: its answers would be of second classes."""
    elsewhere = types.ModuleType("elsewhere_asked")

    async def find(input: Payment) -> Happened[Receipt] | DidNotHappen | Unknown:
        raise NotImplementedError

    find.__module__ = elsewhere.__name__
    app = App(Governance([write("pay.elsewhere", reconcile=find)]), sinks=[])
    config: WorkerConfig = {"client": house.client, "task_queue": house.queue}
    runner = TemperancePlugin(app).configure_worker(config).get("workflow_runner")
    assert isinstance(runner, SandboxedWorkflowRunner)
    assert elsewhere.__name__ in runner.restrictions.passthrough_modules
