"""Workflows that pack boxes, and some that do what a workflow may not do."""

import time
from typing import cast

from temporalio import workflow

from temperance import ExecutionResult
from temperance.runtime.actor import Actor
from temperance.runtime.names import Surface
from temperance.workflows import Invoker
from tests.facade.plugged.boxes import Box, pack, stick
from tests.facade.plugged.executions import note_execution
from tests.facade.plugged.shapes import Size

ADA = Actor(id="ada")

note_execution(__name__)


@workflow.defn
class Packing:
    """Packs a box and fails to pack another; its models come from two modules."""

    @workflow.run
    async def run(self, label: str) -> tuple[ExecutionResult[Box], ExecutionResult[Box]]:
        invoker = Invoker(actor=ADA)
        box = Box(label=label, size=Size(width=2))
        return await invoker.invoke(pack, box), await invoker.invoke(stick, box)


@workflow.defn
class Unruly:
    """Asks the clock or the disk."""

    @workflow.run
    async def run(self, what: str) -> str:
        if what == "clock":
            return str(time.time())
        with open("/etc/hostname") as file:  # noqa: ASYNC230, PTH123 - it is refused
            return file.read()


@workflow.defn
class PackingLarge:
    """Packs a box whose label is large."""

    @workflow.run
    async def run(self, length: int) -> int:
        envelope = await Invoker(actor=ADA).invoke(pack, Box(label="x" * length))
        return len(envelope.unwrap().label)


@workflow.defn
class Heedless:
    """Invokes, and lets whatever comes of it pass."""

    @workflow.run
    async def run(self, how: str) -> None:
        match how:
            case "by id":
                await Invoker(actor=ADA).invoke("boxes.pack", "{}")
            case "no surface":
                Invoker(actor=ADA, surface=cast(Surface, "backdoor"))
            case _:
                await Invoker(actor=ADA).invoke(pack, Box(label="a"), step=" ")
