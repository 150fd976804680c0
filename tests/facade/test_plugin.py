"""The plugin: what client, worker and replayer get from it, and what it leaves as it was."""

import re
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
import structlog.testing
from temporalio import activity
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowFailureError
from temporalio.contrib.pydantic import PydanticPayloadConverter
from temporalio.converter import DataConverter
from temporalio.exceptions import ApplicationError
from temporalio.worker import Replayer, Worker

from temperance import App, Completed, ConfigurationError, Failed, Governance, MemorySink
from temperance.embedded import EmbeddedServer
from temperance.plugin import TemperancePlugin
from tests.facade.plugged import boxes as boxes_module
from tests.facade.plugged.boxes import Box, boxes, forgotten
from tests.facade.plugged.chatter import Chatter
from tests.facade.plugged.config import active, activity_names
from tests.facade.plugged.executions import VARIABLE
from tests.facade.plugged.package import wrap
from tests.facade.plugged.package.flow import Wrapping
from tests.facade.plugged.workflows import Heedless, Packing, Unruly
from tests.support.history import event_names, history_events
from tests.support.waiting import wait_until


async def connected(server: EmbeddedServer, app: App) -> Client:
    return await server.connect(plugins=[TemperancePlugin(app)])


async def test_a_worker_inherits_the_plugin_of_its_client(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Nothing but the client is told of the application; typed envelopes come back."""
    client = await connected(embedded, boxes(MemorySink()))
    async with Worker(client, task_queue=task_queue, workflows=[Packing]):
        packed, stuck = await client.execute_workflow(
            Packing.run, "a", id=task_queue, task_queue=task_queue
        )
    assert isinstance(packed, Completed)
    assert packed.output.size.width == 2
    assert isinstance(stuck, Failed)
    assert (stuck.error.message, stuck.error.reason) == ("a is stuck.", "STUCK")


async def test_a_plugin_that_is_given_twice_acts_once(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """The SDK warns of the second; there is one of everything, and one event of each type."""
    sink = MemorySink()
    app = boxes(sink)
    client = await connected(embedded, app)
    with pytest.warns(UserWarning, match="present from both client and worker"):
        worker = Worker(
            client, task_queue=task_queue, workflows=[Packing], plugins=[TemperancePlugin(app)]
        )
    assert activity_names(worker) == [
        "boxes.pack",
        "boxes.stick",
        "temperance.attach",
        "temperance.record",
        "temperance.record_approval",
    ]
    assert len(active(worker)["interceptors"]) == 1
    async with worker:
        await client.execute_workflow(Packing.run, "a", id=task_queue, task_queue=task_queue)
    assert sink.types() == [
        "capability.requested",
        "capability.started",
        "capability.completed",
        "capability.requested",
        "capability.started",
        "capability.failed",
    ]


async def test_a_worker_alone_may_have_the_plugin_where_its_client_knows_pydantic(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """A client with pydantic's converter needs no plugin of its own."""
    app = boxes(MemorySink())
    converter = replace(DataConverter.default, payload_converter_class=PydanticPayloadConverter)
    client = await Client.connect(embedded.target_host, data_converter=converter)
    plugins = [TemperancePlugin(app)]
    async with Worker(client, task_queue=task_queue, workflows=[Packing], plugins=plugins):
        packed, _ = await client.execute_workflow(
            Packing.run, "a", id=task_queue, task_queue=task_queue
        )
    assert isinstance(packed, Completed)


async def test_two_applications_on_one_client_are_refused(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """The second would be served by half: its capabilities, and the first one's workflows."""
    other = App(Governance([forgotten]), sinks=[])
    client = await connected(embedded, boxes(MemorySink()))
    with (
        pytest.warns(UserWarning, match="present from both"),
        pytest.raises(ConfigurationError, match="different applications"),
    ):
        Worker(client, task_queue=task_queue, plugins=[TemperancePlugin(other)])


async def test_a_replayer_takes_the_plugin_and_runs_nothing(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """A finished history is replayed without a difference, a handler or an event (G6)."""
    sink = MemorySink()
    app = boxes(sink)
    client = await connected(embedded, app)
    async with Worker(client, task_queue=task_queue, workflows=[Packing]):
        handle = await client.start_workflow(Packing.run, "a", id=task_queue, task_queue=task_queue)
        await handle.result()
    history = await handle.fetch_history()
    sink.clear()

    plugin = TemperancePlugin(replace(app, workflows=[Packing]))
    replayer = Replayer(workflows=[], plugins=[plugin, plugin])
    result = await replayer.replay_workflow(history)

    assert result.replay_failure is None
    assert sink.events == []


async def task_failure(client: Client, workflow_id: str) -> str:
    """Why a workflow task failed, as soon as one did."""
    for event in await history_events(client, workflow_id):
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED:
            return event.workflow_task_failed_event_attributes.failure.message
    return ""


@pytest.mark.parametrize("what", ["clock", "disk"])
async def test_the_sandbox_stays_on(what: str, embedded: EmbeddedServer, task_queue: str) -> None:
    """A workflow that asks the clock or the disk is refused, as without the plugin."""
    client = await connected(embedded, boxes(MemorySink()))
    async with Worker(client, task_queue=task_queue, workflows=[Unruly]):
        handle = await client.start_workflow(Unruly.run, what, id=task_queue, task_queue=task_queue)
        refusal = await wait_until(partial(task_failure, client, task_queue))
        await handle.terminate()
    assert "Cannot access" in refusal


async def test_the_sandbox_stays_on_for_a_workflow_inside_a_package_of_capabilities(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """To pass the package would pass the workflow with it: so the package is not passed."""
    client = await connected(embedded, App(Governance([wrap]), sinks=[]))
    async with Worker(client, task_queue=task_queue, workflows=[Wrapping]):
        result = await client.execute_workflow(
            Wrapping.run, False, id=f"{task_queue}-1", task_queue=task_queue
        )
        handle = await client.start_workflow(
            Wrapping.run, True, id=f"{task_queue}-2", task_queue=task_queue
        )
        refusal = await wait_until(partial(task_failure, client, f"{task_queue}-2"))
        await handle.terminate()
    assert result == "(a)"
    assert "Cannot access" in refusal


async def test_modules_of_capabilities_are_not_executed_again_for_a_workflow(
    embedded: EmbeddedServer,
    task_queue: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nor are those of the models inside their models: a second class of a name is no model."""
    counted = tmp_path / "executions"
    monkeypatch.setenv(VARIABLE, str(counted))
    client = await connected(embedded, boxes(MemorySink()))
    async with Worker(client, task_queue=task_queue, workflows=[Packing]):
        for number in range(3):
            id_ = f"{task_queue}-{number}"
            await client.execute_workflow(
                Packing.run, "a", id=id_, task_queue=task_queue, run_timeout=timedelta(seconds=20)
            )
    # The workflow's own module is executed in each sandbox: that is what a sandbox is.
    assert set(counted.read_text().splitlines()) == {Packing.__module__}


async def test_structlog_in_a_workflow_is_the_one_that_was_configured(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """It passes the sandbox: a second copy would have no configuration."""
    client = await connected(embedded, boxes(MemorySink()))
    with structlog.testing.capture_logs() as lines:
        async with Worker(client, task_queue=task_queue, workflows=[Chatter]):
            await client.execute_workflow(
                Chatter.run, "packed", id=task_queue, task_queue=task_queue
            )
    assert [line["event"] for line in lines] == ["packed"]


@pytest.mark.parametrize("how", ["by id", "typed", "no surface"])
async def test_a_workflow_whose_worker_has_no_plugin_fails_and_its_task_does_not(
    how: str, client: Client, task_queue: str
) -> None:
    """It says what is missing and where to give it; nothing is retried for ever."""
    async with Worker(client, task_queue=task_queue, workflows=[Heedless]):
        with pytest.raises(WorkflowFailureError) as failed:
            await client.execute_workflow(Heedless.run, how, id=task_queue, task_queue=task_queue)
        names = event_names(await history_events(client, task_queue))
    cause = failed.value.cause
    assert isinstance(cause, ApplicationError)
    if how == "no surface":
        assert cause.type == "StepError"
        assert "backdoor" in cause.message
    else:
        assert cause.type == "ConfigurationError"
        assert "TemperancePlugin" in cause.message
    assert "WORKFLOW_TASK_FAILED" not in names


async def test_a_worker_that_cannot_serve_the_application_refuses_to_start_and_says_all(
    client: Client, task_queue: str
) -> None:
    """A forgotten capability, names that are taken, no workflow, no pydantic: all at once."""

    @activity.defn(name="boxes.pack")
    async def own_pack() -> None: ...

    @activity.defn(name="temperance.record")
    async def own_record() -> None: ...

    app = replace(boxes(MemorySink()), modules=[boxes_module], workflows=[Box])
    with pytest.raises(ConfigurationError) as refused:
        Worker(
            client,
            task_queue=task_queue,
            activities=[own_pack, own_record],
            plugins=[TemperancePlugin(app)],
        )
    problems = refused.value.problems
    assert len(problems) == 5
    for number, said in enumerate(
        [
            r"boxes\.forgotten: capability boxes\.forgotten is declared and not in the registry",
            "Box.* is no workflow class",
            r"activity boxes\.pack: a capability has this name",
            r"activity temperance\.record: a capability has this name",
            "DefaultPayloadConverter does not know pydantic",
        ]
    ):
        assert re.search(said, problems[number]), problems[number]
        assert problems[number] in str(refused.value)
