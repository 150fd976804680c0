"""An output that cannot be given: the effect is done, and nothing is done again (G2, G10)."""

import json
from pathlib import Path

import pytest

from temperance import MemorySink, Runtime, TemperanceClient
from temperance.embedded import EmbeddedServer
from tests.guarantees.boundary.answers import Answer, answer_of
from tests.guarantees.boundary.ledger import Ledger
from tests.guarantees.boundary.new_build import renewed
from tests.guarantees.boundary.parcels import LARGE, SECRET, office
from tests.guarantees.boundary.serving import served
from tests.guarantees.boundary.verbose import verbose
from tests.guarantees.boundary.workflows import ADA, Asking, Measuring, Question, Upgrading
from tests.support.history import event_names, history_events

KINDS = ["unvalidated", "another class", "nothing", "no JSON", "no number", "endless", "no text"]
"""What breaks the model of the output, or has no JSON form."""


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger")


def order(capability: str, kind: str) -> Question:
    return Question(capability=capability, text=json.dumps({"kind": kind}), surface="workflow")


def said(answer: Answer) -> tuple[str, str, int, str, bool]:
    """Status, effect, attempts, code, and whether asking again is advised."""
    error = answer["error"]
    return answer["status"], answer["effect"], answer["attempts"], error["code"], error["retryable"]


DONE_INVALID = ("failed", "done", 1, "OUTPUT_INVALID", False)


@pytest.mark.parametrize("name", ["parcels.send", "parcels.look"])
async def test_g2_an_output_that_breaks_its_model_is_no_reason_to_run_again(
    name: str, embedded: EmbeddedServer, task_queue: str, ledger: Ledger
) -> None:
    """One effect each, `done`, OUTPUT_INVALID without a value; also where retries are declared."""
    sink = MemorySink()
    questions = [order(name, kind) for kind in [*KINDS, "good"]]
    async with served(embedded, office(ledger, sink), task_queue, Asking) as client:
        *answers, good = await client.execute_workflow(
            Asking.run, questions, id=task_queue, task_queue=task_queue
        )
        events = await history_events(client, task_queue)

    assert [said(answer) for answer in answers] == [DONE_INVALID] * len(KINDS)
    assert good["status"] == "completed"
    assert ledger.lines() == [*KINDS, "good"]
    assert SECRET not in json.dumps(answers)
    assert SECRET.encode() not in b"".join(event.SerializeToString() for event in events)
    ends = [event for event in sink.events if event.type == "capability.failed"]
    assert [(end.effect, end.attempts, end.error_code) for end in ends] == [
        ("done", 1, "OUTPUT_INVALID")
    ] * len(KINDS)


@pytest.mark.parametrize("name", ["parcels.send", "parcels.look"])
async def test_g2_in_process_an_output_that_breaks_its_model_is_no_reason_to_run_again(
    name: str, ledger: Ledger
) -> None:
    """The same through `Runtime.invoke`."""
    runtime = Runtime(office(ledger, MemorySink()))
    for kind in KINDS:
        envelope = await runtime.invoke(name, {"kind": kind}, actor=ADA, surface="workflow")
        answer = answer_of(envelope)
        assert said(answer) == DONE_INVALID
        assert SECRET not in json.dumps(answer)
    assert ledger.lines() == KINDS


@pytest.mark.parametrize("name", ["parcels.send", "parcels.look"])
async def test_g2_an_output_too_large_to_be_carried_is_no_reason_to_run_again(
    name: str, embedded: EmbeddedServer, task_queue: str, ledger: Ledger
) -> None:
    """3 MB give PAYLOAD_TOO_LARGE with the size and effect `done`; the handler ran once."""
    app = office(ledger, MemorySink())
    async with served(embedded, app, task_queue, Asking) as client:
        in_workflow, good = await client.execute_workflow(
            Asking.run,
            [order(name, "large"), order(name, "good")],
            id=task_queue,
            task_queue=task_queue,
        )
        single = TemperanceClient(client, app, actor=ADA, surface="workflow", task_queue=task_queue)
        alone = answer_of(await single.invoke(name, {"kind": "large"}))

    size = len(f'{{"label":"{"p" * LARGE}","weight":1.0,"more":null}}')
    for answer in (in_workflow, alone):
        assert said(answer) == ("failed", "done", 1, "PAYLOAD_TOO_LARGE", False)
        assert answer["error"]["details"] == {"size": size, "limit": app.payload_limit}
        assert str(size) in answer["error"]["message"]
    assert good["status"] == "completed"
    assert ledger.lines() == ["large", "good", "large"]


@pytest.mark.parametrize("name", ["parcels.spill", "parcels.empty", "parcels.swap"])
async def test_g10_a_redaction_with_a_fault_gives_nothing_away_and_runs_nothing_again(
    name: str, embedded: EmbeddedServer, task_queue: str, ledger: Ledger
) -> None:
    """A redaction that raises, or gives no output: nothing of it, effect `done`, one attempt."""
    async with served(embedded, office(ledger, MemorySink()), task_queue, Asking) as client:
        (answer,) = await client.execute_workflow(
            Asking.run, [order(name, "good")], id=task_queue, task_queue=task_queue
        )
        events = await history_events(client, task_queue)

    assert said(answer) == ("failed", "done", 1, "INTERNAL_ERROR", False)
    assert answer["error"]["stage"] == "redaction"
    assert SECRET not in json.dumps(answer)
    assert SECRET.encode() not in b"".join(event.SerializeToString() for event in events)
    assert ledger.lines() == ["good"]


async def test_large_outputs_that_arrive_at_once_are_all_taken(
    embedded: EmbeddedServer, task_queue: str, ledger: Ledger
) -> None:
    """Five outputs of 1.9 MB: each is under the limit, and so is each answer to the server."""
    text = json.dumps({"size": 1_900_000})
    questions = [Question(capability="parcels.look", text=text, surface="workflow")] * 5
    async with served(embedded, office(ledger, MemorySink()), task_queue, Measuring) as client:
        sizes = await client.execute_workflow(
            Measuring.run, questions, id=task_queue, task_queue=task_queue
        )
    assert sizes == [1_900_000] * 5


async def test_an_output_of_another_build_is_an_answer_and_no_stuck_workflow_task(
    embedded: EmbeddedServer, task_queue: str, ledger: Ledger
) -> None:
    """The worker's model and the workflow's differ: OUTPUT_INVALID with effect `done`."""
    old, new = f"{task_queue}-old", f"{task_queue}-new"
    async with (
        served(embedded, office(ledger, MemorySink()), old),
        served(embedded, renewed(), new, Upgrading) as client,
    ):
        answer = await client.execute_workflow(Upgrading.run, old, id=task_queue, task_queue=new)
        names = event_names(await history_events(client, task_queue))
    assert said(answer) == DONE_INVALID
    assert [(found["path"], found["type"]) for found in answer["error"]["details"]] == [
        ("tracking", "missing")
    ]
    assert "WORKFLOW_TASK_FAILED" not in names
    assert ledger.lines() == ["good"]


@pytest.mark.parametrize(
    "how", ["reason", "message", "details", "wrong reason", "wrong message", "all"]
)
async def test_an_error_that_says_too_much_is_cut_and_still_reported(
    how: str, embedded: EmbeddedServer, task_queue: str, ledger: Ledger
) -> None:
    """An error of 3 MB keeps its code and effect; one that is put together wrongly, its effect."""
    app = verbose(ledger, MemorySink())
    asked = Question(capability="verbose.handler", text=json.dumps({"how": how}))
    async with served(embedded, app, task_queue, Asking) as client:
        (in_workflow,) = await client.execute_workflow(
            Asking.run, [asked], id=task_queue, task_queue=task_queue
        )
    envelope = await Runtime(app).invoke(asked.capability, asked.text, actor=ADA, surface="agent")
    for answer in (in_workflow, answer_of(envelope)):
        code = "FORBIDDEN" if how == "all" else "EXECUTION_FAILED"
        assert said(answer) == ("failed", "possible", 1, code, False)
        assert len(json.dumps(answer)) < 100_000
    assert ledger.lines() == [how, how]


async def test_a_policy_that_says_too_much_is_cut_and_still_heard(
    embedded: EmbeddedServer, task_queue: str, ledger: Ledger
) -> None:
    """A denial and a demand for approval of 3 MB each: both are answers, and nothing is run."""
    sink = MemorySink()
    names = "verbose.denied", "verbose.asked"
    questions = [Question(capability=name, text='{"how": ""}') for name in names]
    async with served(embedded, verbose(ledger, sink), task_queue, Asking) as client:
        denied, asked = await client.execute_workflow(
            Asking.run, questions, id=task_queue, task_queue=task_queue
        )
    assert said(denied) == ("failed", "none", 1, "POLICY_DENIED", False)
    assert (asked["status"], asked["effect"]) == ("approval_required", "none")
    assert len(json.dumps([denied, asked])) < 20_000
    assert all(len(event.model_dump_json()) < 20_000 for event in sink.events)
    assert not ledger.lines()
