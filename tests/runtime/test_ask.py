"""What goes with a request: one short line, and an object for what is unusual."""

import json
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from temperance.runtime.actor import Actor, ActorKind
from temperance.runtime.ask import Ask
from temperance.runtime.names import SURFACES

RUN = "01a22fc7-b752-73e1-b586-1325a565fe74"
ADA = Actor(id="ada")

NAMES = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=20)
ACTORS = st.builds(
    Actor,
    id=st.builds("{} {}".format, NAMES, NAMES) | NAMES,
    kind=st.sampled_from(["user", "service", "automation", "anonymous"]),
    attributes=st.dictionaries(NAMES, st.integers() | NAMES, max_size=2),
)


def test_what_is_usual_is_one_line() -> None:
    written = Ask(ADA, "agent", origin=RUN).to_json()
    assert written == b'"agent AaIvx7dSc-G1hhMlpWX-dA user:ada"'


def test_a_client_has_no_run() -> None:
    assert Ask(ADA, "direct").to_json() == b'"direct - user:ada"'


def test_what_is_unusual_follows_in_an_object() -> None:
    actor = Actor(id="a b", kind="service", attributes={"role": "lead"})
    ask = Ask(actor, "workflow", RUN, 2, repeat_of="s-1", correlation_id="t-17")
    assert json.loads(ask.to_json()) == [
        "workflow AaIvx7dSc-G1hhMlpWX-dA service:a b",
        {"attributes": {"role": "lead"}, "retry": 2, "repeats": "s-1", "correlation": "t-17"},
    ]


@given(
    st.builds(
        Ask,
        actor=ACTORS,
        surface=st.sampled_from(SURFACES),
        origin=st.none() | st.uuids().map(str) | NAMES | st.uuids().map(lambda run: run.hex),
        workflow_attempt=st.integers(1, 5),
        repeat_of=st.none() | NAMES,
        correlation_id=st.none() | NAMES,
    )
)
def test_what_is_written_is_read(ask: Ask) -> None:
    assert Ask.from_json(ask.to_json()) == ask


def test_what_one_request_does_to_its_actor_does_not_reach_the_next() -> None:
    """The usual line is remembered, and not the actor that is made of it."""
    written = Ask(ADA, "agent", RUN).to_json()
    Ask.from_json(written).actor.attributes["role"] = "lead"
    assert Ask.from_json(written) == Ask(ADA, "agent", RUN)


@pytest.mark.parametrize("kind", ["user", "service", "automation", "anonymous"])
def test_the_kind_ends_at_the_first_colon(kind: ActorKind) -> None:
    actor = Actor(id="service:x", kind=kind)
    assert Ask.from_json(Ask(actor, "mcp").to_json()).actor == actor


@pytest.mark.parametrize("run", ["", "-", "r", str(UUID(RUN)).upper(), f"{{{RUN}}}"])
def test_a_run_id_of_another_form_is_kept_as_it_is(run: str) -> None:
    assert Ask.from_json(Ask(ADA, "agent", run).to_json()).origin == run


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"null",
        b"1",
        b"[]",
        b"{}",
        b'""',
        b'"agent"',
        b'"agent - "',
        b'"agent - ada"',
        b'"agent - person:ada"',
        b'"agent - user: ada"',
        b'"door - user:ada"',
        b'"agent !!! user:ada"',
        b'"agent AaIv user:ada"',
        b'["agent - user:ada"]',
        b'["agent - user:ada", []]',
        b'["agent - user:ada", {}, {}]',
        b'[{}, "agent - user:ada"]',
    ],
)
def test_what_is_no_request_context_is_refused_and_not_repeated(data: bytes) -> None:
    with pytest.raises(ValueError, match="the request context") as refused:
        Ask.from_json(data)
    assert refused.value.__cause__ is None
    assert "ada" not in str(refused.value)
