"""Who asks: the authenticated requester of an execution, never the model (DESIGN section 1)."""

from functools import lru_cache
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    field_validator,
)
from pydantic_core import PydanticCustomError

from .canonical import canonical_json
from .names import SURFACES

_set = object.__setattr__

MAX_IDENTIFIER = 200
"""Longest identifier that a caller may hand in, in characters."""


def identifier_problem(value: str) -> str | None:
    """Says what is wrong with an id given by a caller, or ``None``. The value is not repeated."""
    given: object = value
    if type(given) is not str and not isinstance(given, str):
        return f"is no text: give 1 to {MAX_IDENTIFIER} characters"
    if not value or value != value.strip():
        return f"is empty or has white space at an end: give 1 to {MAX_IDENTIFIER} characters"
    if len(value) > MAX_IDENTIFIER:
        return f"has {len(value)} characters: give at most {MAX_IDENTIFIER}"
    if not value.isprintable():
        # Among them what cannot be seen, such as a zero-width space: two ids that look the same
        # would be two requesters.
        return "has control or invisible characters: give printable text"
    return None


def _check(value: str) -> str:
    problem = identifier_problem(value)
    if problem is not None:
        raise PydanticCustomError("identifier", "The id {problem}", {"problem": problem})
    return value


Identifier = Annotated[
    str, StringConstraints(min_length=1, max_length=MAX_IDENTIFIER), AfterValidator(_check)
]
"""An id given by a caller: 1 to 200 printable characters, no blank at either end."""

ActorKind = Literal["user", "service", "automation", "anonymous"]


class Actor(BaseModel):
    """The authenticated requester.

    Two actors are the same when kind and id are equal, compared exactly, character by character:
    no case folding and no Unicode normalization is applied.

    Args:
        id: The requester's id in the application's own directory.
        kind: ``user``, ``service``, ``automation`` or ``anonymous``.
        attributes: What policies may need to know (roles, tenant). JSON only, and it is written to
            workflow history with every request, so keep secrets out of it.

    Raises:
        pydantic.ValidationError: An empty, blank or overlong id, an unknown kind, or attributes
            that cannot be written as JSON (infinite numbers, text that is no Unicode).
    """

    # Its errors do not repeat what was given: they may end in a log, or in history (G10).
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    id: Identifier
    kind: ActorKind = "user"
    attributes: dict[str, JsonValue] = Field(default_factory=dict, repr=False)

    @field_validator("attributes")
    @classmethod
    def _refuse_unwritable(cls, attributes: dict[str, JsonValue]) -> dict[str, JsonValue]:
        # They travel with every request: better here than where the request is sent.
        try:
            if attributes:
                canonical_json(attributes)
        except ValueError:
            raise PydanticCustomError("attributes", "The attributes are not JSON") from None
        return attributes

    def __str__(self) -> str:
        """Kind and id, as summaries and tables show it."""
        return f"{self.kind}:{self.id}"

    @classmethod
    def from_text(cls, text: str, attributes: object = None) -> "Actor":
        """Reads what ``str`` gives, such as ``user:ada``.

        Raises:
            pydantic.ValidationError: Not a kind and an id with a colon between them.
        """
        kind, _, name = text.partition(":")
        return cls.model_validate({"id": name, "kind": kind, "attributes": attributes or {}})


ANONYMOUS = Actor(id="anonymous", kind="anonymous")
"""Nobody in particular. Policies decide what an anonymous requester may do."""


def check_requester(actor: object, surface: object) -> None:
    """Refuses whoever and whatever a caller that is not type checked may hand in.

    Args:
        actor: The requester; ``None`` is nobody, which the attempt refuses.
        surface: Through which door.

    Raises:
        TypeError: The actor is none.
        ValueError: The surface is unknown.
    """
    if actor is not None and type(actor) is not Actor and not isinstance(actor, Actor):
        raise TypeError("actor: give an Actor, such as Actor(id=...)")
    if surface not in SURFACES:
        raise ValueError(f"surface {surface!r} is unknown: give one of {', '.join(SURFACES)}")


def actor_of(kind: str, id: str) -> Actor:
    """An actor without attributes, for what arrives with every request.

    Args:
        kind: A kind, if it is one.
        id: An id, if it is one.

    Raises:
        pydantic.ValidationError: As for `Actor`.
    """
    _check_actor(kind, id)
    actor = object.__new__(Actor)
    _set(actor, "__dict__", {"id": id, "kind": kind, "attributes": {}})
    _set(actor, "__pydantic_fields_set__", {"id", "kind"})
    _set(actor, "__pydantic_extra__", None)
    _set(actor, "__pydantic_private__", None)
    return actor


@lru_cache(maxsize=1024)
def _check_actor(kind: str, id: str) -> None:
    # The same few ask again and again. What is kept is that they are well formed, and not the
    # actor: it has a mapping, which one execution might change under another.
    Actor.model_validate({"id": id, "kind": kind})
