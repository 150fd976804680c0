"""Bytes of JSON in and out of Temporal payloads."""

from typing import Final

from temporalio import activity
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue

_JSON = (b"json/plain", b"json/protobuf")


def wrap(data: bytes) -> RawValue:
    """JSON as a raw value: what the payload converter would write, without asking it."""
    return RawValue(Payload(metadata={"encoding": b"json/plain"}, data=data))


def unwrap(value: object) -> object:
    """The content of an argument: bytes of JSON wherever it is JSON.

    Args:
        value: A raw value; anything else was decoded already, because foreign code gave another
            number of arguments, and is passed through.

    Returns:
        ``bytes`` of JSON, or a Python value.
    """
    if not isinstance(value, RawValue):
        return value
    encoding = value.payload.metadata.get("encoding", b"")
    if encoding in _JSON:
        return value.payload.data
    if encoding == b"binary/null":
        return b"null"
    decoded: object = activity.payload_converter().from_payload(value.payload)
    return decoded


NULL: Final = wrap(b"null")
"""What an argument that was not given stands for."""
