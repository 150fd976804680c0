"""The raw input of a request, as bytes of JSON and as a hash, made in workflow code.

Nothing is judged here: validation is the activity's, because a validator is the application's own
code and need not be deterministic.
"""

import json
from contextlib import suppress
from dataclasses import dataclass, field, is_dataclass
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import from_json, to_jsonable_python

from ..runtime.canonical import (
    HASH_LENGTH,
    canonical_hash,
    canonical_json,
    hash_bytes,
    json_of,
    sort_sets,
)
from ..runtime.capability import Capability
from ..runtime.error import CapabilityError

ROOM: Final = 8 * 1024
"""Bytes of a request context that fit beside the largest input."""


@dataclass(frozen=True, slots=True)
class RawInput:
    """An input on its way.

    Args:
        json: What the activity will validate.
        hash: What makes two raw inputs equal: independent of key order and of the order of sets.
    """

    json: bytes = field(repr=False)
    hash: str


UNWRITABLE: Final = RawInput(b"", "0" * HASH_LENGTH)
"""Stands for a value that has no JSON form at all."""


# A capability of any input, and a raw input of any type: the activity judges it.
def raw_input(capability: Capability[Any, Any] | None, value: object, *, by_id: bool) -> RawInput:
    """Writes a raw input.

    Args:
        capability: Where it is known, its schema writes an instance of the input model.
        value: An instance, a JSON-like value, or ``bytes`` of JSON.
        by_id: Whether the capability was named by id; then a ``str`` is JSON, as models give it.

    Returns:
        The input; `UNWRITABLE` where it cannot be written as JSON. Text that is not JSON is passed
        on as it is: the activity refuses it.
    """
    usual = _is_usual(capability, value)
    if not usual:
        if by_id and isinstance(value, str):
            value = value.encode(errors="surrogatepass")
        if isinstance(value, bytes):
            return RawInput(value, _hash_text(value))
    try:
        if usual or isinstance(value, BaseModel) or is_dataclass(value):
            return _instance(capability, value)
        # What has no canonical form is refused, though it may have some JSON form: its hash, and
        # with it the step, would differ from process to process.
        data = canonical_json(value)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - a serializer of the application's own: it may raise anything
        return UNWRITABLE
    return RawInput(data, hash_bytes(data))


def refusal(raw: RawInput, ask: bytes, limit: int) -> CapabilityError | None:
    """Why a request cannot be sent at all, whatever it asks for.

    To be asked before whether the capability exists: otherwise an input that cannot travel would
    tell a hidden capability from an unknown one (G9).

    Args:
        raw: The input.
        ask: What goes with it.
        limit: Most bytes of an input.

    Returns:
        INPUT_INVALID or PAYLOAD_TOO_LARGE, or ``None`` where nothing is in the way.
    """
    if raw is UNWRITABLE:
        return CapabilityError("INPUT_INVALID")
    size = len(raw.json) + max(len(ask) - ROOM, 0)
    if size <= limit:
        return None
    return CapabilityError(
        "PAYLOAD_TOO_LARGE",
        f"The input has {size} bytes; at most {limit} can be carried.",
        stage="input",
        details={"size": size, "limit": limit},
    )


def _is_usual(capability: Capability[Any, Any] | None, value: object) -> bool:
    """Told by its class alone: in the sandbox `isinstance` costs ten times as much as elsewhere."""
    classes = None if capability is None else capability.input_schema.traits.classes
    return classes is not None and type(value) in classes


def _instance(capability: Capability[Any, Any] | None, value: object) -> RawInput:
    if capability is not None:
        schema = capability.input_schema
        # What is not of the input type is written loosely: the activity says what is wrong with it.
        with suppress(BaseException):
            data, canonical = schema.both_forms(value)
            return RawInput(data, hash_bytes(canonical))
    data = json_of(value)
    plain: object = to_jsonable_python(value, by_alias=False, round_trip=True)
    return RawInput(data, canonical_hash(sort_sets(value, plain)))


def _hash_text(data: bytes) -> str:
    try:
        return canonical_hash(from_json(data, allow_inf_nan=False))
    except (ValueError, json.JSONDecodeError, RecursionError):
        return hash_bytes(data)
