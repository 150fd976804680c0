"""What may not be seen looks as if it did not exist, byte for byte (G9)."""

import json
from pathlib import Path

import pytest

from temperance import MemorySink, Runtime, TemperanceClient
from temperance.embedded import EmbeddedServer
from tests.guarantees.boundary.answers import Answer, answer_of
from tests.guarantees.boundary.desk import desk
from tests.guarantees.boundary.ledger import Ledger
from tests.guarantees.boundary.serving import served
from tests.guarantees.boundary.workflows import ADA, PAD, Asking, AskingOddly, Question

NOBODY = "desk.absent"
UNSEEN = {
    NOBODY: "unknown",
    "desk.inside": "unexposed",
    "desk.unlisted": "hidden:conceal",
    "desk.closed": "denied:withhold",
    "desk.concealed": "hidden:conceal",
}
"""What this requester may not see, and the true reason."""

UNLISTED = [name for name in UNSEEN if name != "desk.concealed"]
"""What is unseen whatever is sent along; a policy that sees the input must be given a valid one."""

TEXTS = ['{"author": "ada", "pages": 1}', "{}", "[", "", '{"author": "ada", "pages": 1, "more": 1}']

ODD = [
    "",
    " ",
    "\n",
    "desk.keep ",
    "Desk.Keep",
    "desk_keep",
    "desk.keep\u200b",
    "../desk.keep",
    "temperance.record",
    "temperance.Approval",
    "__temporal_activity",
    "déjà.vu",
    "🍏" * 60,
    "desk.keep" * 400,
    "x" * 100_000,
    '{"name": "desk.keep"}',
]
"""What a model may send in place of an id."""


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger")


def shown(answer: Answer) -> bytes:
    """The envelope as it leaves, but for the ids of the request itself."""
    own = {"execution_id", "capability", "repeat_of"}
    return json.dumps({key: value for key, value in answer.items() if key not in own}).encode()


def denials(sink: MemorySink) -> list[tuple[str | None, str | None, str | None]]:
    return [
        (event.capability, event.error_code, event.reason)
        for event in sink.events
        if event.type == "capability.denied"
    ]


async def test_g9_a_workflow_is_told_the_same_of_what_is_unknown_unexposed_and_hidden(
    embedded: EmbeddedServer, task_queue: str, ledger: Ledger
) -> None:
    """The envelopes are the same bytes, the audit has the true reasons; the workflow goes on."""
    sink = MemorySink()
    questions = [Question(capability=name, text=TEXTS[0]) for name in [*UNSEEN, "desk.keep"]]
    async with served(embedded, desk(ledger, sink), task_queue, Asking) as client:
        *answers, good = await client.execute_workflow(
            Asking.run, questions, id=task_queue, task_queue=task_queue
        )

    assert len({shown(answer) for answer in answers}) == 1
    assert answers[0]["error"]["code"] == "CAPABILITY_NOT_FOUND"
    assert answers[0]["effect"] == "none"
    assert [answer["capability"] for answer in answers] == list(UNSEEN)
    assert good["status"] == "completed"
    assert ledger.lines() == ["ada"]
    assert denials(sink) == [
        (name, "CAPABILITY_NOT_FOUND", reason) for name, reason in UNSEEN.items()
    ]


async def test_g9_a_single_request_is_told_the_same_of_what_is_unknown_unexposed_and_hidden(
    embedded: EmbeddedServer, task_queue: str, ledger: Ledger
) -> None:
    """The same through `TemperanceClient`: what it refuses by itself, and what a worker refuses."""
    sink = MemorySink()
    app = desk(ledger, sink)
    async with served(embedded, app, task_queue) as client:
        single = TemperanceClient(client, app, actor=ADA, surface="agent", task_queue=task_queue)
        answers = [answer_of(await single.invoke(name, TEXTS[0])) for name in UNSEEN]

    assert len({shown(answer) for answer in answers}) == 1
    assert not ledger.lines()
    assert denials(sink) == [
        (name, "CAPABILITY_NOT_FOUND", reason) for name, reason in UNSEEN.items()
    ]


async def test_g9_in_process_the_same_is_told_of_what_is_unknown_unexposed_and_hidden(
    ledger: Ledger,
) -> None:
    """The same through `Runtime.invoke`."""
    sink = MemorySink()
    runtime = Runtime(desk(ledger, sink))
    answers = [
        answer_of(await runtime.invoke(name, TEXTS[0], actor=ADA, surface="agent"))
        for name in UNSEEN
    ]

    assert len({shown(answer) for answer in answers}) == 1
    assert not ledger.lines()
    assert denials(sink) == [
        (name, "CAPABILITY_NOT_FOUND", reason) for name, reason in UNSEEN.items()
    ]


async def test_g9_no_input_tells_what_is_hidden_from_what_is_unknown(
    embedded: EmbeddedServer, task_queue: str, ledger: Ledger
) -> None:
    """Invalid text, no JSON, or 3 MB: the answer depends on what is sent, not on what exists."""
    texts = [*TEXTS, f'"{PAD}"']
    questions = [
        Question(capability=name, text=text, pad=3_000_000) for text in texts for name in UNLISTED
    ]
    app = desk(ledger, MemorySink())
    async with served(embedded, app, task_queue, Asking) as client:
        answers = await client.execute_workflow(
            Asking.run, questions, id=task_queue, task_queue=task_queue
        )
        single = TemperanceClient(client, app, actor=ADA, surface="agent", task_queue=task_queue)
        alone = [
            answer_of(await single.invoke(name, text.replace(PAD, "a" * 3_000_000)))
            for text in texts
            for name in UNLISTED
        ]
    for given in (answers, alone):
        for start in range(0, len(given), len(UNLISTED)):
            same = given[start : start + len(UNLISTED)]
            assert len({shown(answer) for answer in same}) == 1
        assert given[0]["error"]["code"] == "CAPABILITY_NOT_FOUND"
        assert given[-1]["error"]["code"] == "PAYLOAD_TOO_LARGE"
    assert not ledger.lines()


async def test_g9_whatever_a_model_sends_as_an_id_is_answered(
    embedded: EmbeddedServer, task_queue: str, ledger: Ledger
) -> None:
    """Blank, overlong, odd and reserved ids are unknown; the workflow goes on."""
    sink = MemorySink()
    app = desk(ledger, sink)
    questions = [Question(capability=name, text=TEXTS[0]) for name in [*ODD, "desk.keep"]]
    async with served(embedded, app, task_queue, Asking) as client:
        *answers, good = await client.execute_workflow(
            Asking.run, questions, id=task_queue, task_queue=task_queue
        )
        single = TemperanceClient(client, app, actor=ADA, surface="agent", task_queue=task_queue)
        runtime = Runtime(app)
        for name in (*ODD, "desk.\ud800"):
            answers.append(answer_of(await single.invoke(name, TEXTS[0])))
            envelope = await runtime.invoke(name, TEXTS[0], actor=ADA, surface="agent")
            answers.append(answer_of(envelope))

    assert len({shown(answer) for answer in answers}) == 1
    assert good["status"] == "completed"
    assert ledger.lines() == ["ada"]
    assert all(len(event.capability or "") <= 200 for event in sink.events)
    assert {reason for _, _, reason in denials(sink)} == {"unknown"}
    assert len(denials(sink)) == len(answers)


@pytest.mark.parametrize("name", ["desk.\ud800", None, 7, ["desk.keep"]])
async def test_g9_an_id_that_is_no_text_is_answered_inside_a_workflow(
    name: object, embedded: EmbeddedServer, task_queue: str, ledger: Ledger
) -> None:
    """A model's tool call that names no tool neither fails the workflow nor its task."""
    async with served(embedded, desk(ledger, MemorySink()), task_queue, AskingOddly) as client:
        answer = await client.execute_workflow(
            AskingOddly.run, repr(name), id=task_queue, task_queue=task_queue
        )
    assert answer["error"]["code"] == "CAPABILITY_NOT_FOUND"
