"""The lean sandbox runner: used only where nobody looks at the contexts of payloads."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.converter import (
    ActivitySerializationContext,
    DataConverter,
    PayloadCodec,
    SerializationContext,
    WithSerializationContext,
)
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from temperance import MemorySink
from temperance.embedded import EmbeddedServer
from temperance.plugin import TemperancePlugin
from temperance.sandbox_runner import LeanSandboxRunner, lean
from tests.facade.plugged.boxes import boxes
from tests.facade.plugged.config import active
from tests.facade.plugged.secrecy import secretive, shelved
from tests.facade.plugged.workflows import Packing

RUNNER = SandboxedWorkflowRunner(SandboxRestrictions.default.with_passthrough_modules("json"))


class OwnRunner(SandboxedWorkflowRunner):
    """A user's own."""


def _nothing() -> list[SerializationContext | None]:
    return []


@dataclass
class Listener(PayloadCodec, WithSerializationContext):
    """A codec that changes nothing and notes in which contexts it was asked to."""

    context: SerializationContext | None = None
    heard: list[SerializationContext | None] = field(default_factory=_nothing)

    def with_context(self, context: SerializationContext) -> "Listener":
        return Listener(context, self.heard)

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        self.heard.append(self.context)
        return list(payloads)

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return list(payloads)


def test_without_codec_and_storage_the_lean_runner_has_the_same_restrictions() -> None:
    runner = lean(RUNNER, DataConverter.default)
    assert isinstance(runner, LeanSandboxRunner)
    assert runner.restrictions is RUNNER.restrictions
    assert runner.runner_class is RUNNER.runner_class


def test_a_codec_a_storage_and_a_runner_of_the_users_own_keep_the_sdks_way(tmp_path: Path) -> None:
    own = OwnRunner()
    assert lean(RUNNER, secretive()) is RUNNER
    assert lean(RUNNER, shelved(tmp_path)) is RUNNER
    assert lean(own, DataConverter.default) is own


async def test_the_lean_runner_is_the_workers_and_runs_workflows(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """That the sandbox still refuses clock and disk is tested with the plugin."""
    plugin = TemperancePlugin(boxes(MemorySink()))
    client = await embedded.connect(plugins=[plugin])
    worker = Worker(client, task_queue=task_queue, workflows=[Packing])
    assert isinstance(active(worker)["workflow_runner"], LeanSandboxRunner)
    async with worker:
        packed, _ = await client.execute_workflow(
            Packing.run, "a", id=task_queue, task_queue=task_queue
        )
    assert packed.unwrap().label == "a"


async def test_a_codec_is_told_for_which_activity_a_payload_is(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """With a codec the answer matters, and it is the SDK's own."""
    codec = Listener()
    client = await Client.connect(
        embedded.target_host,
        plugins=[TemperancePlugin(boxes(MemorySink()))],
        data_converter=replace(DataConverter.default, payload_codec=codec),
    )
    async with Worker(client, task_queue=task_queue, workflows=[Packing]):
        codec.heard.clear()
        await client.execute_workflow(Packing.run, "a", id=task_queue, task_queue=task_queue)
    told = [context for context in codec.heard if isinstance(context, ActivitySerializationContext)]
    assert {context.activity_type for context in told} == {"boxes.pack", "boxes.stick"}
    assert {context.workflow_id for context in told} == {task_queue}
