"""What is wrong with an input is said with paths and without values, and nothing is run (G8)."""

import json
from pathlib import Path
from typing import Any

import pytest
from temporalio.worker import Replayer

from temperance import Actor, MemorySink, Runtime, TemperanceClient, TemperancePlugin
from temperance.embedded import EmbeddedServer
from tests.guarantees.boundary.answers import Answer, answer_of
from tests.guarantees.boundary.desk import Note, desk
from tests.guarantees.boundary.ledger import Ledger
from tests.guarantees.boundary.serving import served
from tests.guarantees.boundary.workflows import (
    ADA,
    PAD,
    UNWRITABLE,
    Asking,
    AskingAtOnce,
    AskingUnwritably,
    Question,
)
from tests.support.history import event_names, history_events

SECRET = "4111-sesame"
GOOD = '{"author": "ada", "pages": 3}'

INVALID = {
    "missing": ('{"author": "ada"}', [("pages", "missing")]),
    "extra": (
        f'{{"author": "ada", "pages": 1, "{SECRET[5:]}": 1}}',
        [("sesame", "extra_forbidden")],
    ),
    "nested": (
        f'{{"author": "ada", "pages": 1, "place": {{"zip": ["{SECRET}"]}}}}',
        [("place.zip", "string_type")],
    ),
    "wrong type": (f'{{"author": "ada", "pages": "{SECRET}"}}', [("pages", "int_parsing")]),
    "out of bounds": ('{"author": "ada", "pages": -4111}', [("pages", "greater_than_equal")]),
    "several": ('{"pages": "many"}', [("author", "missing"), ("pages", "int_parsing")]),
    "another shape": (f'["{SECRET}"]', [("", "model_type")]),
    "null": ("null", [("", "model_type")]),
    "not JSON": (f'{{"author": "{SECRET}", "pages"', [("", "json_invalid")]),
    "no text": ("", [("", "json_invalid")]),
    "no Unicode": ('{"author": "\udcff4111", "pages": 1}', [("", "json_invalid")]),
}
"""Text that a model may send, and what is wrong with it."""

PADDED = f'{{"author": "{PAD}", "pages": 1}}'


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger")


async def ask(server: EmbeddedServer, queue: str, ledger: Ledger, *texts: str) -> list[Answer]:
    """The answers to requests for `desk.keep`, one after the other in one workflow."""
    questions = [Question(capability="desk.keep", text=text) for text in texts]
    async with served(server, desk(ledger, MemorySink()), queue, Asking) as client:
        return await client.execute_workflow(Asking.run, questions, id=queue, task_queue=queue)


def problems(error: dict[str, Any]) -> list[tuple[str, str]]:
    return [(found["path"], found["type"]) for found in error["details"]]


async def test_g8_an_invalid_input_is_answered_with_paths_and_without_values(
    embedded: EmbeddedServer, task_queue: str, ledger: Ledger
) -> None:
    """Every kind of invalid input gives INPUT_INVALID, nothing is run, the workflow goes on."""
    texts = [text for text, _ in INVALID.values() if text.isprintable()]
    expected = [what for text, what in INVALID.values() if text.isprintable()]

    *answers, good = await ask(embedded, task_queue, ledger, *texts, GOOD)

    assert [problems(answer["error"]) for answer in answers] == expected
    for answer in answers:
        assert (answer["status"], answer["effect"]) == ("failed", "none")
        assert answer["error"]["code"] == "INPUT_INVALID"
        assert answer["error"]["message"] == "The input is not valid."
        assert "4111" not in json.dumps(answer["error"])
    assert good["output"] == {"pages": 3}
    assert ledger.lines() == ["ada"]


@pytest.mark.parametrize("kind", INVALID)
async def test_g8_in_process_an_invalid_input_gets_the_same_answer(
    kind: str, ledger: Ledger
) -> None:
    """`Runtime.invoke` names the same problems as a workflow."""
    text, expected = INVALID[kind]
    envelope = await Runtime(desk(ledger, MemorySink())).invoke(
        "desk.keep", text, actor=ADA, surface="agent"
    )
    answer = answer_of(envelope)
    error = answer["error"]
    assert (error["code"], answer["effect"]) == ("INPUT_INVALID", "none")
    assert problems(error) == expected
    assert "4111" not in json.dumps(error)
    assert not ledger.lines()


async def test_g8_an_invalid_input_of_a_single_request_gets_the_same_answer(
    embedded: EmbeddedServer, task_queue: str, ledger: Ledger
) -> None:
    """`TemperanceClient.invoke` names the same problems as a workflow."""
    app = desk(ledger, MemorySink())
    async with served(embedded, app, task_queue) as client:
        single = TemperanceClient(client, app, actor=ADA, surface="agent", task_queue=task_queue)
        for text, expected in INVALID.values():
            answer = answer_of(await single.invoke("desk.keep", text))
            error = answer["error"]
            assert (error["code"], answer["effect"]) == ("INPUT_INVALID", "none")
            assert problems(error) == expected
            assert "4111" not in json.dumps(error)
    assert not ledger.lines()


async def test_g8_an_instance_that_was_changed_without_validation_is_judged_by_what_it_holds(
    embedded: EmbeddedServer, task_queue: str, ledger: Ledger
) -> None:
    """A model built by `model_construct` passes no validation of its own: the worker's decides."""
    app = desk(ledger, MemorySink())
    broken = Note.model_construct(author="ada", pages=-1)
    async with served(embedded, app, task_queue) as client:
        single = TemperanceClient(client, app, actor=ADA, surface="agent", task_queue=task_queue)
        for envelope in (
            await single.invoke("desk.keep", broken),
            await Runtime(app).invoke("desk.keep", broken, actor=ADA, surface="agent"),
        ):
            error = answer_of(envelope)["error"]
            assert problems(error) == [("pages", "greater_than_equal")]
    assert not ledger.lines()


async def test_g8_an_input_that_has_no_json_form_is_refused_and_no_task_is_stuck(
    embedded: EmbeddedServer, task_queue: str, ledger: Ledger
) -> None:
    """What cannot be written, or contains itself, or is no number: INPUT_INVALID everywhere."""
    app = desk(ledger, MemorySink())
    async with served(embedded, app, task_queue, AskingUnwritably) as client:
        answers = await client.execute_workflow(
            AskingUnwritably.run, "desk.keep", id=task_queue, task_queue=task_queue
        )
        names = event_names(await history_events(client, task_queue))
        single = TemperanceClient(client, app, actor=ADA, surface="agent", task_queue=task_queue)
        runtime = Runtime(app)
        for name, make in UNWRITABLE.items():
            alone = answer_of(await single.invoke("desk.keep", make()))
            inside = answer_of(
                await runtime.invoke("desk.keep", make(), actor=ADA, surface="agent")
            )
            for answer in (alone, inside, answers[name]):
                told = answer["status"], answer["effect"], answer["error"]["code"]
                assert told == ("failed", "none", "INPUT_INVALID"), name
    assert not ledger.lines()
    assert "ACTIVITY_TASK_SCHEDULED" not in names
    assert "WORKFLOW_TASK_FAILED" not in names


async def test_g8_an_input_too_large_to_be_carried_is_refused_before_it_is_scheduled(
    embedded: EmbeddedServer, task_queue: str, ledger: Ledger
) -> None:
    """3 MB give PAYLOAD_TOO_LARGE with the size; nothing is scheduled, and the workflow goes on."""
    sink = MemorySink()
    app = desk(ledger, sink)
    questions = [
        Question(capability="desk.keep", text=PADDED, pad=3_000_000),
        Question(capability="desk.keep", text=GOOD),
    ]
    async with served(embedded, app, task_queue, Asking) as client:
        refused, good = await client.execute_workflow(
            Asking.run, questions, id=task_queue, task_queue=task_queue
        )
        single = TemperanceClient(client, app, actor=ADA, surface="agent", task_queue=task_queue)
        alone = await single.invoke("desk.keep", PADDED.replace(PAD, "a" * 3_000_000))
        names = event_names(await history_events(client, task_queue))

    assert names.count("ACTIVITY_TASK_SCHEDULED") == 1
    size = len(PADDED) - len(PAD) + 3_000_000
    for answer in (refused, answer_of(alone)):
        error = answer["error"]
        assert (error["code"], answer["effect"]) == ("PAYLOAD_TOO_LARGE", "none")
        assert error["details"] == {"size": size, "limit": app.payload_limit}
        assert str(size) in error["message"]
    assert good["output"] == {"pages": 3}
    assert ledger.lines() == ["ada"]
    ends = [event.error_code for event in sink.events if event.type == "capability.failed"]
    assert ends == ["PAYLOAD_TOO_LARGE", "PAYLOAD_TOO_LARGE"]


async def test_g8_who_asks_counts_where_it_is_too_large_to_be_carried(
    embedded: EmbeddedServer, task_queue: str, ledger: Ledger
) -> None:
    """An actor whose attributes alone are too large is an answer, and no stuck workflow task."""
    app = desk(ledger, MemorySink())
    actor = Actor(id="ada", attributes={"badge": "x" * 3_000_000})
    async with served(embedded, app, task_queue) as client:
        single = TemperanceClient(client, app, actor=actor, surface="agent", task_queue=task_queue)
        answer = answer_of(await single.invoke("desk.keep", GOOD))
    error = answer["error"]
    assert error["code"] == "PAYLOAD_TOO_LARGE"
    assert not ledger.lines()


async def test_g8_the_largest_input_that_can_be_carried_is_carried(
    embedded: EmbeddedServer, task_queue: str, ledger: Ledger
) -> None:
    """The limit is exact: a byte more is refused."""
    app = desk(ledger, MemorySink())
    pad = app.payload_limit - (len(PADDED) - len(PAD))
    fits = Question(capability="desk.keep", text=PADDED, pad=pad)
    more = Question(capability="desk.keep", text=PADDED, pad=pad + 1)
    async with served(embedded, app, task_queue, Asking) as client:
        taken, refused = await client.execute_workflow(
            Asking.run, [fits, more], id=task_queue, task_queue=task_queue
        )
    assert taken["status"] == "completed"
    assert refused["error"]["code"] == "PAYLOAD_TOO_LARGE"
    assert len(ledger.lines()) == 1


async def test_g8_large_inputs_that_are_asked_at_once_are_all_carried(
    embedded: EmbeddedServer, task_queue: str, ledger: Ledger
) -> None:
    """Five inputs of 1.5 MB in one instant exceed what one answer to the server may hold."""
    questions = [Question(capability="desk.keep", text=PADDED, pad=1_500_000 + n) for n in range(5)]
    app = desk(ledger, MemorySink())
    async with served(embedded, app, task_queue, AskingAtOnce) as client:
        answers = await client.execute_workflow(
            AskingAtOnce.run, questions, id=task_queue, task_queue=task_queue
        )
        history = await client.get_workflow_handle(task_queue).fetch_history()
    assert [answer["status"] for answer in answers] == ["completed"] * 5
    assert "WORKFLOW_TASK_FAILED" not in event_names(history.events)
    assert len(ledger.lines()) == 5

    replayer = Replayer(workflows=[AskingAtOnce], plugins=[TemperancePlugin(app)])
    assert not (await replayer.replay_workflow(history)).replay_failure
