"""Reading and writing JSON objects that travel, without trusting their shape."""

from collections.abc import Mapping
from typing import Final, cast, get_args

from pydantic import JsonValue
from pydantic_core import from_json

from .encoder import json_encoder
from .names import Effect

WireObject = Mapping[str, object]
"""A JSON object as it arrives: any value behind any key."""

_EFFECTS: Final = get_args(Effect)
_encode = json_encoder()


def encode(value: JsonValue) -> bytes:
    """A value as bytes of JSON, without white space."""
    return _encode(value).encode()


def decode_object(data: bytes, what: str) -> WireObject:
    """Reads bytes that must be a JSON object.

    Raises:
        ValueError: They are not. The message names ``what`` and does not repeat the data.
    """
    try:
        wire: object = from_json(data)
    except ValueError:
        raise ValueError(f"{what} is not JSON") from None
    found = as_object(wire)
    if found is None:
        raise ValueError(f"{what} is not an object")
    return found


def as_object(value: object) -> WireObject | None:
    """The value as an object, or ``None``."""
    return cast(WireObject, value) if isinstance(value, Mapping) else None


def text(value: object) -> str | None:
    """The value if it is a string."""
    return value if isinstance(value, str) else None


def texts(value: object) -> tuple[str, ...]:
    """The members of an array as strings; nothing where it is not an array."""
    if not isinstance(value, list | tuple):
        return ()
    return tuple(str(item) for item in cast(list[object], value))


def whole(value: object, default: int) -> int:
    """The value if it is a whole number."""
    return value if isinstance(value, int) else default


def effect(value: object, default: Effect) -> Effect:
    """The value if it is an effect."""
    return cast(Effect, value) if value in _EFFECTS else default


def write_head(
    attempts: int, errors: tuple[str, ...], execution_id: str | None, repeat_of: str | None
) -> dict[str, JsonValue]:
    """What leads a reply or an ending where it is not the usual."""
    head: dict[str, JsonValue] = {}
    if attempts != 1:
        head["attempts"] = attempts
    if errors:
        head["errors"] = list(errors)
    if execution_id is not None:
        head["id"] = execution_id
    if repeat_of is not None:
        head["repeats"] = repeat_of
    return head


def read_head(wire: WireObject) -> tuple[int, tuple[str, ...], str | None, str | None]:
    """Attempts, earlier errors, execution id and what it repeats, as `write_head` wrote them."""
    return (
        whole(wire.get("attempts"), 1),
        texts(wire.get("errors")),
        text(wire.get("id")),
        text(wire.get("repeats")),
    )
