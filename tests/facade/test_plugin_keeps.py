"""What a user has set on client and worker is still there with the plugin."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.client import Client
from temporalio.contrib.pydantic import PydanticPayloadConverter
from temporalio.converter import DataConverter, DefaultPayloadConverter
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from temperance import Actor, Completed, ConfigurationError, Failed, MemorySink, TemperanceClient
from temperance.embedded import EmbeddedServer
from temperance.plugin import TemperancePlugin
from temperance.runtime.error import StepError
from tests.facade.plugged.boxes import Box, boxes, pack
from tests.facade.plugged.config import active
from tests.facade.plugged.secrecy import Cipher, SecretiveFailures, Shelf, secretive, shelved
from tests.facade.plugged.shapes import Size
from tests.facade.plugged.workflows import Packing, PackingLarge

ADA = Actor(id="ada")
SECOND = timedelta(seconds=1)


async def test_a_codec_and_a_failure_converter_survive(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Inputs, outputs, errors and summaries are unreadable in history, and read in the envelope."""
    app = boxes(MemorySink())
    client = await Client.connect(
        embedded.target_host, plugins=[TemperancePlugin(app)], data_converter=secretive()
    )
    assert isinstance(client.data_converter.payload_codec, Cipher)
    assert client.data_converter.failure_converter_class is SecretiveFailures
    async with Worker(client, task_queue=task_queue, workflows=[Packing]):
        packed, stuck = await client.execute_workflow(
            Packing.run, "sesame", id=task_queue, task_queue=task_queue
        )
        single = TemperanceClient(client, app, actor=ADA, task_queue=task_queue)
        alone = await single.invoke(pack, Box(label="sesame"), request_id=task_queue)
        again = await single.invoke(pack, Box(label="sesame"), request_id=task_queue)
        history = await client.get_workflow_handle(task_queue).fetch_history()

    assert isinstance(packed, Completed)
    assert packed.output.label == "sesame"
    assert isinstance(stuck, Failed)
    assert (stuck.error.message, stuck.error.reason) == ("sesame is stuck.", "STUCK")
    assert stuck.error.details == {"label": "sesame"}
    assert isinstance(alone, Completed)
    assert again == alone
    raw = b"".join(event.SerializeToString() for event in history.events)
    for unreadable in (b"sesame", b"STUCK", b"user:ada"):
        assert unreadable not in raw
    assert b"Encoded failure" in raw


async def test_external_storage_survives_and_carries_what_the_server_would_not(
    embedded: EmbeddedServer, task_queue: str, tmp_path: Path
) -> None:
    """With a limit that says so, 3 MB go in and come out, and history has none of them."""
    app = replace(boxes(MemorySink()), payload_limit=8_000_000)
    client = await Client.connect(
        embedded.target_host, plugins=[TemperancePlugin(app)], data_converter=shelved(tmp_path)
    )
    async with Worker(client, task_queue=task_queue, workflows=[PackingLarge]):
        length = await client.execute_workflow(
            PackingLarge.run, 3_000_000, id=task_queue, task_queue=task_queue
        )
        history = await client.get_workflow_handle(task_queue).fetch_history()
    assert length == 3_000_000
    assert max(event.ByteSize() for event in history.events) < 10_000
    assert max(map(len, Shelf(tmp_path).contents())) > 3_000_000


async def test_a_subclass_of_the_pydantic_converter_is_kept(embedded: EmbeddedServer) -> None:
    """It is what the SDK advises for options of the converter."""

    class Own(PydanticPayloadConverter):
        pass

    client = await Client.connect(
        embedded.target_host,
        plugins=[TemperancePlugin(boxes(MemorySink()))],
        data_converter=DataConverter(payload_converter_class=Own),
    )
    assert client.data_converter.payload_converter_class is Own


async def test_a_converter_that_does_not_know_pydantic_is_refused_and_not_replaced(
    embedded: EmbeddedServer,
) -> None:
    """It may be what the rest of the application relies on: the message says what is needed."""

    class Own(DefaultPayloadConverter):
        pass

    with pytest.raises(ConfigurationError, match=r"Own: temperance needs .*Pydantic"):
        await Client.connect(
            embedded.target_host,
            plugins=[TemperancePlugin(boxes(MemorySink()))],
            data_converter=DataConverter(payload_converter_class=Own),
        )


async def test_intervals_are_set_where_the_user_has_set_none(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """A cancellation arrives within about a second, and a stopping worker lets attempts end."""
    client = await embedded.connect(plugins=[TemperancePlugin(boxes(MemorySink()))])
    config = active(Worker(client, task_queue=task_queue))
    assert config["max_heartbeat_throttle_interval"] == SECOND
    assert config["default_heartbeat_throttle_interval"] == SECOND
    assert config["graceful_shutdown_timeout"] == 10 * SECOND


@pytest.mark.parametrize("chosen", [SECOND / 10, SECOND * 5])
async def test_intervals_that_the_user_has_chosen_are_kept(
    chosen: timedelta, embedded: EmbeddedServer, task_queue: str
) -> None:
    """Shorter or longer: it is the user's worker."""
    client = await embedded.connect(plugins=[TemperancePlugin(boxes(MemorySink()))])
    config = active(
        Worker(
            client,
            task_queue=task_queue,
            max_heartbeat_throttle_interval=chosen,
            default_heartbeat_throttle_interval=chosen,
            graceful_shutdown_timeout=chosen,
        )
    )
    assert config["max_heartbeat_throttle_interval"] == chosen
    assert config["default_heartbeat_throttle_interval"] == chosen
    assert config["graceful_shutdown_timeout"] == chosen


async def test_exception_types_and_restrictions_of_the_user_are_kept(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """What is added stands beside what was there."""
    restrictions = SandboxRestrictions.default.with_passthrough_modules("tests.support.waiting")
    client = await embedded.connect(plugins=[TemperancePlugin(boxes(MemorySink()))])
    config = active(
        Worker(
            client,
            task_queue=task_queue,
            workflows=[Packing],
            workflow_failure_exception_types=[ZeroDivisionError],
            workflow_runner=SandboxedWorkflowRunner(restrictions=restrictions),
        )
    )
    failures = config["workflow_failure_exception_types"]
    assert {ZeroDivisionError, StepError} <= set(failures)
    runner = config["workflow_runner"]
    assert isinstance(runner, SandboxedWorkflowRunner)
    assert runner.restrictions.passthrough_modules - restrictions.passthrough_modules == {
        "temperance",
        "structlog",
        Box.__module__,
        Size.__module__,
    }
