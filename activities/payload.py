"""Bytes of JSON in and out of Temporal payloads."""

from typing import Final

from pydantic_core import to_json
from temporalio import activity
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue

_PLAIN: Final = Payload(metadata={"encoding": b"json/plain"})
_JSON = (b"json/plain", b"json/protobuf")
UNREADABLE: Final = object()
"""Stands for what cannot be decoded: no JSON, and so no input and no request context."""

_DECODED_JSON = (dict, list, str, int, float, type(None))


def wrap(data: bytes) -> RawValue:
    """JSON as a raw value: what the payload converter would write, without asking it."""
    payload = Payload()
    payload.CopyFrom(_PLAIN)  # a third of what naming the encoding anew takes
    payload.data = data
    return RawValue(payload)


def unwrap(value: object) -> object:
    """The content of an argument: bytes of JSON wherever it is JSON.

    Args:
        value: A raw value; anything else was decoded already, because foreign code gave another
            number of arguments. It is written as JSON again, so that it is judged as JSON: a strict
            model takes a list for a tuple, or text for a date, from JSON only.

    Returns:
        ``bytes`` of JSON, or a Python value; `UNREADABLE` where the payload converter has no use
        for it. That is for the attempt to refuse: raised here, the converter's own words would end
        in history, and nobody would record the request.
    """
    if not isinstance(value, RawValue):
        return to_json(value) if isinstance(value, _DECODED_JSON) else value
    encoding = value.payload.metadata.get("encoding", b"")
    if encoding in _JSON:
        return value.payload.data
    if encoding == b"binary/null":
        return b"null"
    try:
        decoded: object = activity.payload_converter().from_payload(value.payload)
    except Exception:  # noqa: BLE001 - an encoding that it does not know, or bytes that are not of it
        return UNREADABLE
    return decoded


NULL: Final = wrap(b"null")
"""What an argument that was not given stands for."""
