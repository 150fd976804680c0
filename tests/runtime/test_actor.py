"""The requester and its id."""

import math
from typing import Any

import pytest
from pydantic import ValidationError

from temperance.runtime.actor import ANONYMOUS, MAX_IDENTIFIER, Actor, ActorKind, actor_of


@pytest.mark.parametrize(
    "value", ["", " ", "\n", " alice", "alice ", "a\x00", "al\u200bice", "al\u202eice", "a" * 201]
)
def test_an_empty_blank_overlong_or_unprintable_id_is_refused(value: str) -> None:
    with pytest.raises(ValidationError):
        Actor(id=value)


@pytest.mark.parametrize("value", ["alice", "Alice Smith", "a" * MAX_IDENTIFIER, "用户-7"])
def test_any_other_id_is_taken_as_it_is(value: str) -> None:
    assert Actor(id=value).id == value


def test_ids_are_compared_character_by_character() -> None:
    assert Actor(id="alice") == Actor(id="alice")
    assert Actor(id="alice") != Actor(id="Alice")
    assert Actor(id="é") != Actor(id="e\u0301")
    assert Actor(id="alice", kind="user") != Actor(id="alice", kind="service")


def test_an_unknown_kind_or_a_field_that_it_does_not_have_is_refused() -> None:
    with pytest.raises(ValidationError):
        Actor.model_validate({"id": "alice", "kind": "model"})
    with pytest.raises(ValidationError):
        Actor.model_validate({"id": "alice", "admin": True})


def test_an_actor_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        setattr(Actor(id="alice"), "id", "bob")  # noqa: B010 - a checker would refuse the plain form


def test_kind_and_id_are_what_summaries_show() -> None:
    assert str(Actor(id="nightly", kind="automation")) == "automation:nightly"
    assert str(ANONYMOUS) == "anonymous:anonymous"


@pytest.mark.parametrize(
    "attributes", [{"rank": math.nan}, {"rank": [math.inf]}, {"name": "\ud800"}, {"\ud800": 1}]
)
def test_attributes_that_cannot_be_written_are_refused(attributes: dict[str, Any]) -> None:
    """They travel with every request: in a workflow, its task would fail for ever."""
    with pytest.raises(ValidationError, match="The attributes are not JSON"):
        Actor(id="ada", attributes=attributes)


@pytest.mark.parametrize("kind", ["user", "service", "automation", "anonymous"])
def test_an_actor_that_arrives_with_a_request_is_as_any_other(kind: ActorKind) -> None:
    arrived, made = actor_of(kind, "ada"), Actor(id="ada", kind=kind)

    assert arrived == made
    assert repr(arrived) == repr(made)
    assert arrived.model_dump_json() == made.model_dump_json()
    with pytest.raises(ValidationError, match="frozen"):
        arrived.id = "bob"  # type: ignore[misc] # that this is refused is what is tested


def test_two_requests_of_one_actor_do_not_share_its_attributes() -> None:
    first = actor_of("user", "ada")
    first.attributes["role"] = "admin"

    assert actor_of("user", "ada").attributes == {}


@pytest.mark.parametrize(("kind", "id"), [("person", "ada"), ("user", ""), ("user", " ada")])
def test_an_actor_that_is_malformed_is_refused_each_time(kind: str, id: str) -> None:
    for _ in range(2):
        with pytest.raises(ValidationError):
            actor_of(kind, id)
