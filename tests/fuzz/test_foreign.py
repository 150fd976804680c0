"""What foreign code puts on a capability's task queue, and odd names on the way there."""

from base64 import b64decode, b64encode
from typing import Any
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from temperance import Actor
from temperance.runtime.error import CODES
from temperance.runtime.names import RECONCILE_SUFFIX, SURFACES
from temperance.runtime.reply import Reply
from tests.fuzz.budget import budget
from tests.fuzz.judging import bounded
from tests.fuzz.secret import leaks, listening
from tests.fuzz.stage import SINK, STAGE, TYPES, Play, Theatre, written
from tests.fuzz.test_inputs import VALID
from tests.fuzz.test_messages import WRITTEN
from tests.fuzz.values import DOCUMENTS, TEXTS, mutations
from tests.fuzz.workflows import Asking, Crafted, Foreign, Scheme, Wish

ENCODINGS = st.sampled_from(
    [
        b"json/plain",
        b"json/plain",
        b"json/plain",
        b"json/protobuf",
        b"binary/plain",
        b"binary/null",
        b"binary/protobuf",
        b"binary/encrypted",
        b"",
        b"\xff",
    ]
)


def _crafted(encoding: bytes, data: bytes, named: bool) -> Crafted:
    metadata = {"encoding": b64encode(encoding).decode()} if named else {}
    if encoding.endswith(b"protobuf"):
        metadata["messageType"] = b64encode(b"temporal.api.common.v1.Payload").decode()
    return Crafted(data=b64encode(data).decode(), metadata=metadata)


CONTEXTS = mutations(st.sampled_from([WRITTEN["ask"], WRITTEN["short"]])) | DOCUMENTS
ARGUMENTS = st.builds(
    _crafted, ENCODINGS, DOCUMENTS | VALID | mutations(VALID), st.integers(0, 9).map(bool)
)
CRAFTED_CONTEXTS = st.builds(_crafted, ENCODINGS, CONTEXTS, st.integers(0, 9).map(bool))
BOTH = st.tuples(ARGUMENTS, CRAFTED_CONTEXTS).map(list)
OWN = st.sampled_from(
    [
        *("temperance.record", "temperance.record_approval", "temperance.attach"),
        f"fuzz.settled{RECONCILE_SUFFIX}",
    ]
)


@budget(1)
@given(
    st.sampled_from([*TYPES, "fuzz.write", "fuzz.again", "fuzz.asked"]),
    BOTH | BOTH | st.lists(ARGUMENTS, max_size=4),
)
async def test_g8_arguments_of_any_kind_are_answered_or_refused(
    theatre: Theatre, capability: str, arguments: list[Crafted]
) -> None:
    """With a reply, or a failure whose type is a code; entered only where the reply says so."""
    STAGE.play = Play()
    found = await _scheduled(theatre, capability, arguments)
    door = STAGE.play.door
    if "reply" in found:
        reply = Reply.from_json(found["reply"].encode())
        assert (reply.asked is None) == (door.entered == 1)
    elif len(arguments) != 2 and found["failed"] not in CODES:
        # Of another number of arguments the SDK does not look at what types they are to have, and
        # refuses in its own words what it cannot decode, and more than two.
        assert found["message"] == "Failed decoding arguments" or found["failed"] == "TypeError"
        assert door.entered == 0
    else:
        assert found["failed"] in CODES, found
        (details,) = found["details"]
        # What claims to be of a retried workflow may have begun before: nobody can tell.
        untold = any(b"retry" in b64decode(argument.data) for argument in arguments)
        assert (details["effect"] == "none") == (door.entered == 0) or untold


@budget(0.5)
@given(OWN, st.lists(ARGUMENTS | CRAFTED_CONTEXTS, max_size=3))
async def test_g10_the_librarys_own_activities_refuse_what_is_not_theirs(
    theatre: Theatre, activity: str, arguments: list[Crafted]
) -> None:
    """Nothing is entered, and nothing is recorded of what nobody asked."""
    STAGE.play = Play()
    before = len(SINK.events)
    found = await _scheduled(theatre, activity, arguments)
    assert "failed" in found
    assert STAGE.play.door.entered == 0
    assert len(SINK.events) == before


async def _scheduled(theatre: Theatre, activity: str, arguments: list[Crafted]) -> dict[str, Any]:
    with listening() as lines:
        handle = await theatre.client.start_workflow(
            Foreign.run,
            Scheme(activity=activity, arguments=arguments),
            id=f"fuzz-{uuid4().hex}",
            task_queue=theatre.queue,
        )
        found: dict[str, Any] = await bounded(handle.result())
    assert leaks([*await written(handle), *lines]) == []
    return found


@budget(1)
@given(
    st.none() | TEXTS,
    st.none() | TEXTS,
    st.sampled_from([*SURFACES]) | TEXTS,
    st.sampled_from(["fuzz.write", "fuzz.unknown"]) | TEXTS,
    TEXTS,
)
async def test_names_of_any_kind_travel_or_are_refused_before_anything_is_scheduled(  # noqa: PLR0917 - drawn
    theatre: Theatre,
    step: str | None,
    correlation_id: str | None,
    surface: str,
    capability: str,
    name: str,
) -> None:
    """Steps, correlation ids, surfaces, capability ids and actors."""
    try:
        actor = Actor(id=name)
        # What no JSON has, no workflow can be given.
        for text in (step, correlation_id, surface, capability):
            (text or "").encode()
    except ValueError:
        return
    STAGE.play = Play()
    wish = Wish(
        capability=capability,
        data=b64encode(b"{}").decode(),
        actor=actor,
        surface=surface,
        step=step,
        correlation_id=correlation_id,
    )
    with listening() as lines:
        handle = await theatre.client.start_workflow(
            Asking.run, wish, id=f"fuzz-{uuid4().hex}", task_queue=theatre.queue
        )
        answer = await bounded(handle.result())
    assert leaks([*await written(handle), *lines]) == []
    if "raised" in answer:
        assert STAGE.play.door.entered == 0
        return
    assert answer["status"] in {"completed", "failed"}
    assert (answer["effect"] == "none") == (STAGE.play.door.entered == 0)
    if STAGE.play.door.entered:
        events = [event for event in SINK.events if event.execution_id == answer["execution_id"]]
        assert {event.actor_id for event in events} == {name}
        assert {event.correlation_id for event in events} == {correlation_id}


async def test_g8_an_argument_in_an_encoding_that_nobody_knows_is_an_invalid_input(
    theatre: Theatre,
) -> None:
    """The words of the converter were in history, and no sink had the request."""
    STAGE.play = Play()
    unknown = Crafted(data="", metadata={})
    context = Crafted(
        data=b64encode(WRITTEN["short"]).decode(),
        metadata={"encoding": b64encode(b"json/plain").decode()},
    )
    before = len(SINK.events)
    found = await _scheduled(theatre, "fuzz.write", [unknown, context])
    assert (found["failed"], found["message"]) == ("INPUT_INVALID", "The input is not valid.")
    assert [event.type for event in SINK.events[before:]] == [
        "capability.requested",
        "capability.failed",
    ]
    found = await _scheduled(theatre, "fuzz.strict", [context, unknown])
    assert found["failed"] in {"INPUT_INVALID", "UNAUTHENTICATED"}
    assert STAGE.play.door.entered == 0
