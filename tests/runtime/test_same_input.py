"""When two inputs are the same: what a step was recorded with, and what is asked of it now."""

import pytest
from pydantic import BaseModel

from temperance.runtime.schema import Schema


class Parcel(BaseModel):
    order: str
    tags: set[str] = set()
    weight: float = 1.0


SCHEMA = Schema(Parcel)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b'{"order":"a"}', b'{ "order" : "a" }'),
        (b'{"order":"a","tags":["x","y"]}', b'{"tags":["y","x"],"order":"a"}'),
        (b'{"order":"a"}', b'{"order":"a","tags":[],"weight":1}'),
        (b'{"order":"\xc3\xa9"}', b'{"order":"\\u00e9"}'),
        (b'{"nothing":1}', b'{"nothing": 1}'),
        (b"not json", b"not json"),
    ],
)
def test_inputs_that_are_written_or_understood_alike_are_the_same(one: bytes, other: bytes) -> None:
    """Key order, white space, escapes, sets and defaults do not make another input."""
    assert SCHEMA.same(one, other)
    assert SCHEMA.same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b'{"order":"a"}', b'{"order":"b"}'),
        (b'{"order":"a","tags":["x"]}', b'{"order":"a","tags":["x","y"]}'),
        (b'{"order":"a"}', b'{"order":"a","weight":2}'),
        (b'{"order":1}', b'{"order":"1"}'),
        (b'{"nothing":1}', b'{"nothing":2}'),
        (b"not json", b"not  json"),
        (b'{"order":"a"}', b"not json"),
    ],
)
def test_inputs_that_differ_in_a_value_are_not_the_same(one: bytes, other: bytes) -> None:
    """Nor are two that are not valid, unless they are written alike."""
    assert not SCHEMA.same(one, other)
    assert not SCHEMA.same(other, one)
