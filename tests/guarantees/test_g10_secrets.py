"""What is not declared public reaches nobody: no caller, no log, no event, no history (G10)."""

import asyncio
import gc
import json
import logging
import re
from collections.abc import Awaitable, Iterable
from datetime import timedelta
from functools import partial

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError

from temperance import App, Event, Governance, MemorySink, Runtime, TemperanceClient
from temperance.embedded import EmbeddedServer
from tests.guarantees.boundary.answers import Answer, answer_of
from tests.guarantees.boundary.leaks import HANDLERS, LEAKS, SECRET, leaking
from tests.guarantees.boundary.serving import served
from tests.guarantees.boundary.workflows import ADA, AskingAtOnce, Question, Unwrapping
from tests.support.waiting import wait_until

ELSEWHERE = [
    ("loop", "input validator"),
    ("loop", "input validator with a fault"),
    ("loop", "good"),
    ("function", "good"),
    ("predicate", "text"),
    ("policy", "good"),
    ("policy_later", "good"),
    ("policy_exit", "good"),
    ("policy_nonsense", "good"),
    ("discovery", "good"),
    ("execution", "good"),
    ("before", "good"),
    ("after", "good"),
    ("context", "context enter"),
    ("context", "context exit"),
]
CASES = [*((name, place) for name in ("loop", "thread") for place in HANDLERS), *ELSEWHERE]
"""Every capability and place."""

CODES = {
    "cause": "FORBIDDEN",
    "output validator": "OUTPUT_INVALID",
    "output type": "OUTPUT_INVALID",
    "output key": "OUTPUT_INVALID",
    "input validator": "INPUT_INVALID",
    "input validator with a fault": "INPUT_INVALID",
    "context enter": "INTERNAL_ERROR",
}
ELSEWHERE_CODES = {
    "policy": "POLICY_FAILED",
    "policy_later": "POLICY_FAILED",
    "policy_exit": "POLICY_FAILED",
    "policy_nonsense": "POLICY_FAILED",
    "discovery": "CAPABILITY_NOT_FOUND",
    "execution": "POLICY_FAILED",
}


def secrets_in(texts: Iterable[str]) -> set[str]:
    """The places whose secret is in one of the texts."""
    return {found for text in texts for found in re.findall(rf"{SECRET}-[\w-]+", text)}


async def recorded(handle: WorkflowHandle[AskingAtOnce, list[Answer]]) -> list[str]:
    """All that the server tells of a workflow, as text and as it travels."""
    history = await handle.fetch_history()
    described = (await handle.describe()).raw_description
    raw = [*history.events, described]
    return [
        history.to_json(),
        str(described),
        *(message.SerializeToString().decode(errors="replace") for message in raw),
    ]


async def pending_failures(handle: WorkflowHandle[AskingAtOnce, list[Answer]]) -> int:
    """How many executions wait for their next attempt."""
    described = (await handle.describe()).raw_description
    return sum(entry.HasField("last_failure") for entry in described.pending_activities)


def question(name: str, place: str) -> Question:
    return Question(capability=f"leaks.{name}", text=json.dumps({"place": place}))


async def test_g10_whatever_fails_with_a_secret_it_is_told_to_nobody(
    embedded: EmbeddedServer,
    task_queue: str,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Handlers, validators, policies, middleware, contexts and filters, with every log open."""
    caplog.set_level(logging.DEBUG)
    sink = MemorySink()
    questions = [question(name, place) for name, place in CASES]
    async with served(embedded, leaking(sink), task_queue, AskingAtOnce) as client:
        handle = await client.start_workflow(
            AskingAtOnce.run, questions, id=task_queue, task_queue=task_queue
        )
        await wait_until(partial(pending_failures, handle))
        between_attempts = await recorded(handle)
        answers = await handle.result()
        at_the_end = await recorded(handle)
    gc.collect()

    assert secrets_in([json.dumps(answers)]) == set()
    assert secrets_in(event.model_dump_json() for event in sink.events) == set()
    assert secrets_in(between_attempts) == set()
    assert secrets_in(at_the_end) == set()
    assert secrets_in([caplog.text, *capfd.readouterr()]) == set()

    assert {
        case: code
        for case, answer in zip(CASES, answers, strict=True)
        if (code := answer.get("error", {}).get("code")) != code_of(*case)
    } == {}
    declared = answers[CASES.index(("loop", "declared"))]["error"]
    assert (declared["message"], declared["reason"]) == ("No.", "REFUSED")
    assert answers[CASES.index(("loop", "text"))]["error"]["message"] == "The operation failed."


def code_of(name: str, place: str) -> str | None:
    """What the caller is told, and no more."""
    if name in {"loop", "thread", "function"} and place == "good":
        return None
    if name in ELSEWHERE_CODES:
        return ELSEWHERE_CODES[name]
    return CODES.get(place, "EXECUTION_FAILED")


async def test_g10_a_single_request_that_fails_with_a_secret_tells_nobody(
    embedded: EmbeddedServer,
    task_queue: str,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The same through `TemperanceClient` and `Runtime`, and what the server has of the former."""
    caplog.set_level(logging.DEBUG)
    app = leaking(MemorySink())
    texts: list[str] = []

    async with served(embedded, app, task_queue) as client:
        single = TemperanceClient(client, app, actor=ADA, surface="agent", task_queue=task_queue)

        async def ask(name: str, place: str) -> None:
            about = f"{name}-{place}"
            asked = question(name, place)
            alone = await single.invoke(asked.capability, asked.text, request_id=about)
            envelope = await Runtime(app).invoke(
                asked.capability, asked.text, actor=ADA, surface="agent"
            )
            described = await client.get_activity_handle(about).describe(
                include_outcome=True, include_heartbeat_details=True, include_last_failure=True
            )
            texts.extend(json.dumps(answer_of(given)) for given in (alone, envelope))
            texts.extend([str(described), str(described.raw_outcome), str(described.raw_info)])

        await asyncio.gather(*(ask(*case) for case in CASES))
    gc.collect()

    assert len(texts) == 5 * len(CASES)
    assert secrets_in(texts) == set()
    assert secrets_in([caplog.text, *capfd.readouterr()]) == set()


class Loose:
    """A sink that fails with a secret, in one of the ways in which a sink can."""

    def __init__(self, way: str) -> None:
        self.way = way

    def record(self, event: Event) -> Awaitable[None] | None:
        secret = f"{SECRET}-{self.way}"
        if self.way == "raises":
            raise RuntimeError(secret)
        if self.way == "exits":
            raise SystemExit(secret)
        return self.later(secret)

    async def later(self, secret: str) -> None:
        try:
            await asyncio.sleep(0 if self.way == "raises-later" else 60)
        finally:
            raise RuntimeError(secret)


WAYS = ["raises", "exits", "raises-later", "raises-when-given-up"]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("way", WAYS)
async def test_g10_a_sink_that_fails_with_a_secret_tells_nobody(  # noqa: PLR0917 - fixtures
    way: str,
    strict: bool,
    embedded: EmbeddedServer,
    task_queue: str,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The outcome stands, except that strict audit does not enter the handler unrecorded."""
    caplog.set_level(logging.DEBUG)
    app = App(
        Governance(LEAKS),
        sinks=[Loose(way)],
        strict_audit=strict,
        sink_timeout=timedelta(milliseconds=50),
    )
    questions = [question("function", "good"), question("absent", "good")]
    async with served(embedded, app, task_queue, AskingAtOnce) as client:
        handle = await client.start_workflow(
            AskingAtOnce.run, questions, id=task_queue, task_queue=task_queue
        )
        good, absent = await handle.result()
        on_server = await recorded(handle)
    gc.collect()
    await asyncio.sleep(0)  # what the loop says of a task that nobody waited for, it says now

    assert secrets_in([json.dumps([good, absent]), *on_server]) == set()
    assert secrets_in([caplog.text, *capfd.readouterr()]) == set()
    expected = ("failed", "none") if strict else ("completed", "done")
    assert (good["status"], good["effect"]) == expected
    assert absent["error"]["code"] == "CAPABILITY_NOT_FOUND"


async def test_g10_a_workflow_that_fails_with_an_error_says_what_its_envelope_said(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """`unwrap` in workflow code fails the workflow with the public error, and with nothing more."""
    async with served(embedded, leaking(MemorySink()), task_queue, Unwrapping) as client:
        handle = await client.start_workflow(
            Unwrapping.run, question("loop", "declared"), id=task_queue, task_queue=task_queue
        )
        with pytest.raises(WorkflowFailureError) as failed:
            await handle.result()
        history = await handle.fetch_history()

    cause = failed.value.cause
    assert isinstance(cause, ApplicationError)
    assert (cause.message, cause.type) == ("No.", "EXECUTION_FAILED")
    assert secrets_in([history.to_json(), repr(cause), str(cause.details)]) == set()
    assert history.events[-1].event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED
