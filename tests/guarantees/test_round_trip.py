"""What goes in comes out: every kind of value through workflow, activity and client."""

import json
from typing import Any

import pytest

from temperance import Runtime, TemperanceClient
from temperance.embedded import EmbeddedServer
from temperance.runtime.schema import Schema
from tests.guarantees.boundary.carrying import ADA, Carrying, CarryingText, difference
from tests.guarantees.boundary.homemade import Homemade
from tests.guarantees.boundary.homemade_app import homemade
from tests.guarantees.boundary.luggage import CARRIERS, VALUES, luggage
from tests.guarantees.boundary.serving import served


def written(kind: str) -> str:
    """The value's JSON, as the library writes it."""
    type_, value = VALUES[kind]
    return Schema[Any](type_).to_json(value).decode()


async def test_every_kind_of_value_comes_back_the_same_in_a_workflow(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Typed: equal, of the same class, and with the same digits and offsets."""
    async with served(embedded, luggage(), task_queue, Carrying) as client:
        different = await client.execute_workflow(
            Carrying.run, list(VALUES), id=task_queue, task_queue=task_queue
        )
    assert different == {}


async def test_every_kind_of_value_comes_back_the_same_as_text(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """By id with JSON text: the output is JSON-like, and is what the type would have written."""
    texts = {kind: written(kind) for kind in VALUES}
    async with served(embedded, luggage(), task_queue, CarryingText) as client:
        answers = await client.execute_workflow(
            CarryingText.run, texts, id=task_queue, task_queue=task_queue
        )
    for kind, text in texts.items():
        type_, value = VALUES[kind]
        assert answers[kind].get("error") is None, kind
        back = Schema[Any](type_).read(json.dumps(answers[kind]["output"]).encode())
        assert back == value, text


async def test_every_kind_of_value_comes_back_the_same_in_a_single_request(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Typed and by id, through the client."""
    app = luggage()
    async with served(embedded, app, task_queue) as client:
        single = TemperanceClient(client, app, actor=ADA, surface="agent", task_queue=task_queue)
        for kind, (_, given) in VALUES.items():
            typed = await single.invoke(CARRIERS[kind], given)
            assert typed.status == "completed", (kind, typed)
            assert difference(kind, typed.output) is None
            by_id = await single.invoke(f"luggage.{kind}", written(kind))
            assert by_id.status == "completed", (kind, by_id)


@pytest.mark.parametrize("kind", VALUES)
async def test_every_kind_of_value_comes_back_the_same_in_process(kind: str) -> None:
    """Typed, as an instance and as JSON."""
    runtime = Runtime(luggage())
    _, given = VALUES[kind]
    for raw in (given, written(kind).encode()):
        envelope = await runtime.invoke(CARRIERS[kind], raw, actor=ADA, surface="agent")
        assert envelope.status == "completed", envelope
        assert difference(kind, envelope.output) is None


async def test_a_model_that_the_sandbox_has_twice_is_understood_all_the_same(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """It is written by its own description; the order of its sets does not make another request."""
    words = [f"word-{number}" for number in range(20)]
    async with served(embedded, homemade(), task_queue, Homemade) as client:
        first, second = await client.execute_workflow(
            Homemade.run, words, id=task_queue, task_queue=task_queue
        )
    assert (first["output"], second["output"]) == (40, 40)
    assert second["repeat_of"] == first["execution_id"]
