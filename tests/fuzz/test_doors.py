"""The same request in process, from a workflow and from a client: the same answer, but for ids."""

from base64 import b64encode
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from temperance import ExecutionResult, Runtime
from temperance.runtime.event import TERMINAL, Event
from tests.fuzz.budget import budget
from tests.fuzz.faults import FAULTS
from tests.fuzz.judging import ADA, Door, Seen, bounded, judge
from tests.fuzz.objects import ANYTHING
from tests.fuzz.secret import SECRET, leaks, listening
from tests.fuzz.stage import APP, LAYERS, SINK, STAGE, TYPES, Play, Theatre, written
from tests.fuzz.test_inputs import VALID
from tests.fuzz.test_middleware import LAYER, layer_of
from tests.fuzz.test_policies import RULE, rule_of
from tests.fuzz.values import DOCUMENTS, mutations
from tests.fuzz.workflows import Asking, Wish

Answer = dict[str, Any]

OWN = {"execution_id", "repeat_of", "approval_id", "expires_at"}
"""What differs from door to door."""


def shown(answer: Answer, events: list[Event]) -> tuple[Answer, tuple[object, ...]]:
    """What must not depend on the door."""
    end = events[-1]
    kept = {key: value for key, value in answer.items() if key not in OWN}
    # A refusal in workflow code has none yet; what is not sent is not validated.
    return kept, (end.type, end.effect, end.error_code, end.reason, end.attempts)


def trail(answer: Answer) -> list[Event]:
    """What was recorded of an execution."""
    return [entry for entry in SINK.events if entry.execution_id == answer["execution_id"]]


async def in_process(play: Play, capability: str, data: bytes) -> tuple[Answer, list[Event]]:
    """Asks the runtime, and judges what came of it."""
    STAGE.play = replace(play, door=Door())
    with listening() as lines:
        pending = Runtime(APP).invoke(capability, data, actor=ADA, surface="agent")
        envelope: ExecutionResult[Any] = await bounded(pending)
    answer = envelope.to_dict()
    judge(Seen(envelope, trail(answer), lines))
    _judge_door(answer)
    return answer, trail(answer)


async def in_workflow(
    theatre: Theatre, play: Play, capability: str, data: bytes, how: str
) -> tuple[Answer, list[Event]]:
    """Asks from a workflow, and looks for the secret in all that the server keeps of it."""
    STAGE.play = replace(play, door=Door())
    wish = Wish(capability=capability, data=b64encode(data).decode(), how=how)
    with listening() as lines:
        handle = await theatre.client.start_workflow(
            Asking.run, wish, id=f"fuzz-{uuid4().hex}", task_queue=theatre.queue
        )
        answer: Answer = await bounded(handle.result())
    assert leaks([*await written(handle), *lines, str(answer)]) == []
    _judge_door(answer)
    return answer, trail(answer)


async def by_client(
    theatre: Theatre, play: Play, capability: str, data: bytes
) -> tuple[Answer, list[Event]]:
    """Asks without a workflow, and looks for the secret in what the server keeps of it."""
    STAGE.play = replace(play, door=Door())
    name = f"fuzz-{uuid4().hex}"
    with listening() as lines:
        pending = theatre.asking(ADA).invoke(capability, data, request_id=name)
        envelope: ExecutionResult[Any] = await bounded(pending)
    answer = envelope.to_dict()
    kept = [str(answer), *lines]
    if trail(answer)[-1].run_id:
        described = await theatre.client.get_activity_handle(name).describe(
            include_outcome=True, include_heartbeat_details=True, include_last_failure=True
        )
        kept += [str(described), str(described.raw_outcome), str(described.raw_info)]
    assert leaks(kept) == []
    _judge_door(answer)
    return answer, trail(answer)


def _judge_door(answer: Answer) -> None:
    door = STAGE.play.door
    assert door.entered <= answer["attempts"]
    assert (answer["effect"] == "none") == (door.entered == 0)
    events = trail(answer)
    assert leaks(event.model_dump_json() for event in events) == []
    ends = [event for event in events if event.type in TERMINAL]
    assert len(ends) == (answer["status"] != "approval_required"), [e.type for e in events]


CAPABILITIES = st.sampled_from(["fuzz.write", "fuzz.thread", "fuzz.again", "fuzz.asked"])
QUICK_LAYER = LAYER.filter(lambda layer: layer[0] != "waits")
QUICK_RULE = RULE.filter(lambda rule: rule[0] not in {"never", "deaf"})


def play_of(how: str, make: Any, value: object, failures: int) -> Any:
    """What makes the handler fail so often, and then return."""

    def handler(_: object) -> object:
        if how == "raises" and STAGE.play.door.entered <= failures:
            raise make()
        return value

    return handler


@budget(0.5)
@given(
    CAPABILITIES,
    st.sampled_from(["raises", "returns"]),
    FAULTS,
    ANYTHING,
    st.integers(1, 3),
    st.lists(QUICK_RULE, max_size=2),
    st.lists(QUICK_LAYER, max_size=LAYERS),
)
async def test_g1_whatever_an_application_does_all_doors_tell_the_same(  # noqa: PLR0917 - drawn
    theatre: Theatre,
    capability: str,
    how: str,
    make: Any,
    value: object,
    failures: int,
    rules: list[Any],
    layers: list[Any],
) -> None:
    """And nothing of the secret is in history, in events, in the log or in the answer."""
    policies = [rule_of(rule) for rule in rules]
    play = Play(
        handler=play_of(how, make, value, failures),
        rules={(entry.phase, number): entry for number, entry in enumerate(policies)},
        layers=[layer_of(layer) for layer in layers],
    )
    data = b'{"order":"o","note":{"a":[1]}}'
    here = await in_process(play, capability, data)
    workflow = await in_workflow(theatre, play, capability, data, "bytes")
    client = await by_client(theatre, play, capability, data)
    assert shown(*workflow) == shown(*here)
    assert shown(*client) == shown(*here)


@budget(0.5)
@given(st.sampled_from([*TYPES, "fuzz.unknown"]), DOCUMENTS | VALID | mutations(VALID))
async def test_g8_whatever_the_input_is_all_doors_tell_the_same(
    theatre: Theatre, capability: str, data: bytes
) -> None:
    """As bytes, as text, and as the value that the text stands for."""
    play = Play()
    here = await in_process(play, capability, data)
    # Bytes that are no text become other bytes where text is made of them.
    for how in ("bytes", "text") if data.decode(errors="replace").encode() == data else ("bytes",):
        assert shown(*await in_workflow(theatre, play, capability, data, how)) == shown(*here)
    assert shown(*await by_client(theatre, play, capability, data)) == shown(*here)


@pytest.mark.parametrize("capability", ["fuzz.write", "fuzz.thread", "fuzz.again"])
async def test_g10_an_interrupt_that_a_handler_raises_tells_nothing_of_itself(
    theatre: Theatre, capability: str
) -> None:
    """The SDK takes it for a failure like any other: its text and stack were in history."""

    def interrupt(_: object) -> object:
        raise KeyboardInterrupt(SECRET)

    STAGE.play = Play(handler=interrupt)
    wish = Wish(capability=capability, data=b64encode(b"{}").decode())
    with listening() as lines:
        handle = await theatre.client.start_workflow(
            Asking.run, wish, id=f"fuzz-{uuid4().hex}", task_queue=theatre.queue
        )
        answer: Answer = await bounded(handle.result())
    assert (answer["error"]["code"], answer["effect"]) == ("INTERNAL_ERROR", "possible")
    assert STAGE.play.door.entered == 1
    assert leaks([*await written(handle), *lines, str(answer)]) == []
    assert [event.type for event in trail(answer)][-1] == "capability.failed"
