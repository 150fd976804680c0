"""Canonical JSON and its hash: what makes two inputs the same input.

Keys sorted, no white space, UTF-8; SHA-256 over the bytes (DESIGN section 7). The hash of an input
is taken from the validated value, so key order, defaults left out and ``"5"`` for ``5`` do not
change it, and any change of a value does.
"""

import dataclasses
import math
from typing import Final, cast

from pydantic import BaseModel, RootModel
from pydantic_core import from_json, to_json, to_jsonable_python

from .digest import sha256_hex
from .encoder import json_encoder
from .shape import is_array, is_mapping, is_object, is_row, is_set

HASH_LENGTH: Final = 64
"""Characters of a hash: SHA-256 in lower-case hexadecimal."""

FEW: Final = 150
"""JSON with so few openings is nested less deeply than any reader minds."""

ROOM: Final = 16
"""How many levels an envelope, an approval or an answer of the application's may put around."""

_encode = json_encoder(sort_keys=True, allow_nan=False)


def canonical_json(value: object) -> bytes:
    """Encodes a JSON-like value in its one canonical form.

    Args:
        value: ``None``, booleans, numbers, strings, and lists, tuples and string-keyed mappings of
            these. Sets are written as arrays sorted by their canonical form, because the order of a
            set differs from process to process.

    Returns:
        UTF-8 bytes: keys sorted, no white space.

    Raises:
        ValueError: The value is not JSON (not-a-number, infinity, lone surrogates, other types), or
            is nested too deeply.
    """
    try:
        try:
            return _encode(value).encode()
        except TypeError:
            return _encode(_jsonable(value)).encode()
    except RecursionError as error:
        raise ValueError("the value is nested too deeply to be written as JSON") from error


def hash_bytes(data: bytes) -> str:
    """SHA-256 of the given bytes in lower-case hexadecimal, 64 characters."""
    return sha256_hex(data)


def canonical_hash(value: object) -> str:
    """SHA-256 of the canonical JSON of a value, see `canonical_json`."""
    return hash_bytes(canonical_json(value))


def is_finite(value: object) -> bool:
    """Whether all floating-point numbers in a value are such as JSON has.

    Args:
        value: A value of any type that pydantic serializes.
    """
    if isinstance(value, float):
        return math.isfinite(value)
    if is_mapping(value):
        return all(is_finite(key) and is_finite(item) for key, item in value.items())
    if is_row(value) or is_set(value):
        return all(is_finite(item) for item in value)
    if isinstance(value, BaseModel):
        return all(is_finite(item) for _, item in value)
    if dataclasses.is_dataclass(value):
        return all(is_finite(getattr(value, f.name, None)) for f in dataclasses.fields(value))
    return True


def json_of(value: object) -> bytes:
    """Writes a value as it describes itself, by field names: no type says what it should be.

    Raises:
        ValueError: It cannot be written as JSON.
    """
    try:
        # Pydantic writes null for such a number, and where null is allowed nobody would notice.
        data = to_json(value, by_alias=False, round_trip=True) if is_finite(value) else None
    except Exception as error:
        raise ValueError(f"{type(value).__name__} cannot be written as JSON") from error
    if data is None:
        raise ValueError("a number that is infinite, or is none, has no JSON form")
    return data


def can_travel(data: bytes) -> bool:
    """Whether JSON can still be read where it is a part of something: it was seen to fail there.

    A reader of JSON goes down 200 levels.

    Args:
        data: Bytes of JSON that can be read by itself.
    """
    if data.count(b"[") + data.count(b"{") <= FEW:
        return True
    try:
        from_json(b"[" * ROOM + data + b"]" * ROOM)
    except ValueError:
        return False
    return True


def sort_sets(value: object, plain: object) -> object:
    """Sorts the arrays that were sets before a value was made plain JSON.

    Args:
        value: A value of any type that pydantic serializes.
        plain: The same value as JSON, written in the order in which its sets were walked.

    Returns:
        ``plain``, in which each array that is a set in ``value`` is sorted by its canonical form.
        Where the two differ in shape, a serializer of the application's own has written the part,
        and it stays as it is.
    """
    if isinstance(value, RootModel):
        return sort_sets(cast("RootModel[object]", value).root, plain)
    if is_array(plain):
        written = plain
        members = [*value] if is_row(value) or is_set(value) else None
        if members is not None and len(members) == len(plain):
            pairs = zip(members, plain, strict=True)
            written = [sort_sets(member, item) for member, item in pairs]
        return sorted(written, key=canonical_json) if is_set(value) else written
    if is_object(plain):
        return _sort_sets_in_fields(value, plain)
    return plain


def _sort_sets_in_fields(value: object, plain: dict[str, object]) -> object:
    if is_mapping(value):
        if len(value) != len(plain):
            return plain
        pairs = zip(value.values(), plain.items(), strict=True)
        return {name: sort_sets(item, written) for item, (name, written) in pairs}
    if isinstance(value, BaseModel) or dataclasses.is_dataclass(value):
        return {
            name: sort_sets(getattr(value, name, None), written) for name, written in plain.items()
        }
    return plain


def _jsonable(value: object) -> object:
    if is_mapping(value):
        written = {_key(key): _jsonable(item) for key, item in value.items()}
        if len(written) != len(value):
            raise ValueError("two keys of a mapping are the same in JSON")
        return written
    if is_set(value):
        return sorted((_jsonable(item) for item in value), key=canonical_json)
    if is_row(value):
        return [_jsonable(item) for item in value]
    if isinstance(value, str | int | float | bool | None):
        return value
    try:
        plain: object = to_jsonable_python(value)
    except Exception as error:
        raise ValueError(f"{type(value).__name__} cannot be written as JSON") from error
    return sort_sets(value, plain)


def _key(key: object) -> str:
    # As JSON writes the keys that it coerces itself: true for True, 1 for 1.
    if isinstance(key, bool | int | float | None):
        return _encode(key)
    return key if isinstance(key, str) else str(to_jsonable_python(key))
