"""Canonical JSON and its hash: what makes two inputs the same input.

Keys sorted, no white space, UTF-8; SHA-256 over the bytes (DESIGN section 7). The hash of an input
is taken from the validated value, so key order, defaults left out and ``"5"`` for ``5`` do not
change it, and any change of a value does.
"""

import hashlib
import json
from typing import Final

from pydantic_core import to_jsonable_python

HASH_LENGTH: Final = 64
"""Characters of a hash: SHA-256 in lower-case hexadecimal."""

_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
).encode


def canonical_json(value: object) -> bytes:
    """Encodes a JSON-like value in its one canonical form.

    Args:
        value: ``None``, booleans, numbers, strings, and lists, tuples and string-keyed mappings of
            these. Sets are written as arrays sorted by their canonical form, because the order of a
            set differs from process to process.

    Returns:
        UTF-8 bytes: keys sorted, no white space.

    Raises:
        ValueError: The value is not JSON (not-a-number, infinity, lone surrogates, other types).
    """
    try:
        return _encode(value).encode()
    except TypeError:
        return _encode(_jsonable(value)).encode()


def hash_bytes(data: bytes) -> str:
    """SHA-256 of the given bytes in lower-case hexadecimal, 64 characters."""
    return hashlib.sha256(data).hexdigest()


def canonical_hash(value: object) -> str:
    """SHA-256 of the canonical JSON of a value, see `canonical_json`."""
    return hash_bytes(canonical_json(value))


def _jsonable(value: object) -> object:
    if isinstance(value, dict):
        return {_key(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((_jsonable(item) for item in value), key=canonical_json)
    if isinstance(value, str | int | float | bool | None):
        return value
    try:
        return to_jsonable_python(value)
    except Exception as error:
        raise ValueError(f"{type(value).__name__} cannot be written as JSON") from error


def _key(key: object) -> str:
    return key if isinstance(key, str) else str(to_jsonable_python(key))
