"""A step that was recorded for another request is not answered, and not run (G11)."""

from collections.abc import Sequence
from typing import Self

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.converter import (
    ActivitySerializationContext,
    DataConverter,
    DefaultFailureConverterWithEncodedAttributes,
    PayloadCodec,
    SerializationContext,
    WithSerializationContext,
    WorkflowSerializationContext,
)

from temperance import Failed, TemperancePlugin
from temperance.embedded import EmbeddedServer
from tests.guarantees.runs.books import Books
from tests.guarantees.runs.capabilities import app_of
from tests.guarantees.runs.jobs import Ask, Plan
from tests.guarantees.runs.rewinding import (
    answers,
    ask,
    reset_to_start,
    start,
    task_end_after,
    worker,
)
from tests.guarantees.runs.workflows import Answers, Script


async def asked_otherwise(
    client: Client, queue: str, before: Ask, after: Ask
) -> tuple[Answers, Answers]:
    """One request in a first run, another one in the run that a reset made of it."""
    handle = await start(client, queue, Plan(hold=True))
    first = str(handle.first_execution_run_id)
    await task_end_after(client, queue, first, 0)
    await handle.signal(Script.ask, before)
    was = await answers(client, queue, first, 1)
    second = await reset_to_start(client, queue, first, reapply=False)
    await handle.signal(Script.ask, after)
    return was, await answers(client, queue, second, 1)


@pytest.mark.parametrize(
    "after",
    [
        ask("write", "w", step="w", note="changed"),
        ask("other_write", "w", step="w"),
        ask("write", "w", step="w", actor="mallory"),
    ],
    ids=["another-input", "another-capability", "another-actor"],
)
async def test_g11_a_step_that_completed_for_another_request_is_a_mismatch(
    desk: Client, task_queue: str, books: Books, after: Ask
) -> None:
    """An explicit step promises the same thing; what was recorded is not handed to who asks now."""
    async with worker(desk, task_queue):
        was, (envelope,) = await asked_otherwise(
            desk, task_queue, ask("write", "w", step="w"), after
        )

    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.effect) == ("STEP_INPUT_MISMATCH", "done")
    assert envelope.execution_id == was[0].execution_id
    assert len(books.entries("w")) == 1


async def test_g11_a_step_that_may_have_begun_for_another_input_is_a_mismatch(
    desk: Client, task_queue: str, books: Books
) -> None:
    """It failed after it was entered; the effect of the execution is that of the recorded one."""
    async with worker(desk, task_queue):
        _, (envelope,) = await asked_otherwise(
            desk,
            task_queue,
            ask("write", "w", "raise", step="w"),
            ask("write", "w", "return", step="w"),
        )

    assert isinstance(envelope, Failed)
    assert (envelope.code, envelope.effect) == ("STEP_INPUT_MISMATCH", "possible")
    assert len(books.entries("w")) == 1


async def test_g11_another_input_under_an_automatic_step_is_another_execution(
    desk: Client, task_queue: str, books: Books
) -> None:
    """Automatic steps follow the input, so there is nothing to be at odds with."""
    async with worker(desk, task_queue):
        was, (envelope,) = await asked_otherwise(
            desk, task_queue, ask("write", "w"), ask("write", "w", note="changed")
        )

    assert envelope.status == "completed"
    assert envelope.execution_id != was[0].execution_id
    assert len(books.entries("w")) == 2


class Sealed(PayloadCodec, WithSerializationContext):
    """Hides payloads, and opens only what was sealed for the same workflow."""

    def __init__(self, owner: bytes = b"nobody") -> None:
        self._owner = owner

    def with_context(self, context: SerializationContext) -> Self:
        """A codec of the workflow that the payloads belong to."""
        if isinstance(context, WorkflowSerializationContext | ActivitySerializationContext):
            return type(self)(str(context.workflow_id).encode())
        return self

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Seal."""
        return [
            Payload(
                metadata={"encoding": b"binary/sealed", "owner": self._owner},
                data=payload.SerializeToString()[::-1],
            )
            for payload in payloads
        ]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Open."""
        if any(payload.metadata["owner"] != self._owner for payload in payloads):
            raise ValueError("sealed for another workflow")
        return [Payload.FromString(payload.data[::-1]) for payload in payloads]


async def test_g11_what_was_recorded_is_read_through_the_users_codec(
    embedded: EmbeddedServer, task_queue: str, books: Books
) -> None:
    """Inputs, results and failures are sealed in history, each for its workflow.

    A completed write, a failed one, a denied one and one with another input are told apart.
    """
    client = await Client.connect(
        embedded.target_host,
        plugins=[TemperancePlugin(app_of(books))],
        data_converter=DataConverter(
            payload_codec=Sealed(),
            failure_converter_class=DefaultFailureConverterWithEncodedAttributes,
        ),
    )
    first_asks = (
        ask("write", "completed", step="completed"),
        ask("write", "failed", "raise", step="failed"),
        ask("unexposed_write", "denied", step="denied"),
        ask("write", "input", step="input"),
    )
    async with worker(client, task_queue):
        handle = await start(client, task_queue, Plan(hold=True))
        first = str(handle.first_execution_run_id)
        await task_end_after(client, task_queue, first, 0)
        for entry in first_asks:
            await handle.execute_update(Script.ask_now, entry)
        second = await reset_to_start(client, task_queue, first, reapply=False)
        changed = ask("write", "input", step="input", note="changed")
        codes: list[str] = []
        for entry in (*first_asks[:3], changed):
            envelope = await handle.execute_update(Script.ask_now, entry)
            codes.append(envelope.code if isinstance(envelope, Failed) else envelope.status)

    assert codes == ["completed", "RESET_FORBIDDEN", "CAPABILITY_NOT_FOUND", "STEP_INPUT_MISMATCH"]
    assert {entry.run_id for entry in books.entries()} == {first}
    assert second != first
