"""JSON of any kind, as text and as values: what a model, a stranger or a broken client may send."""

import json
from typing import Any, Final

from hypothesis import strategies as st
from pydantic import JsonValue

SPECIAL: Final = (
    *("", " ", "\0", "\x7f", "\u200b", "\u202e", "\ufeff", "\ud800", "\udfff\ud800", "a\udc80"),
    *("NaN", "null", "true", "[]", "{}", "<script>", "'; --", "%s%n", "{0}", "../../etc", "-"),
    *("user:ada", "a b", "a\nb", "é", "e\u0301", "\U0001f600", "x" * 201, "y" * 5_000),
)
"""Texts that something or other takes amiss."""

TEXTS: Final = st.sampled_from(SPECIAL) | st.text(st.characters(exclude_categories=()), max_size=12)
"""Any text that Python can hold, lone surrogates included."""

NUMBERS: Final[st.SearchStrategy[Any]] = (
    st.integers()
    | st.floats()
    | st.sampled_from([0, -0.0, 2**53 + 1, 2**63, 2**64, -(2**200), 10**400, 1e308, 5e-324])
)

PLAIN: Final[st.SearchStrategy[Any]] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
"""JSON-like values, also such as JSON does not have: infinite numbers, text that is no Unicode."""


def _written(value: JsonValue) -> bytes:
    return json.dumps(value).encode()


def _nested(depth: int, opening: bytes, closing: bytes, whole: bool) -> bytes:
    return opening * depth + b"1" + (closing * depth if whole else b"")


def _mutated(data: bytes, place: int, change: bytes, cut: int) -> bytes:
    at = place % (len(data) + 1)
    return data[:at] + change + data[at + cut :]


DOCUMENTS: Final[st.SearchStrategy[bytes]] = (
    # Python writes NaN, Infinity and escapes of lone surrogates, as many others do.
    PLAIN.map(_written)
    | st.builds(
        _nested,
        st.sampled_from([1, 100, 190, 210, 1_000, 30_000]),
        st.sampled_from([b"[", b'{"a":', b'[{"a":', b" [ "]),
        st.sampled_from([b"]", b"}", b"}]"]),
        st.booleans(),
    )
    | st.sampled_from(
        [
            b"",
            b" ",
            b"\0",
            b"\xef\xbb\xbf{}",
            b"\xff\xfe{\0}\0",
            b'"\\ud800"',
            b'"\\udc00\\ud800"',
            b'"\xed\xa0\x80"',
            b'{"a":1,"a":2}',
            b'{"order":"a","order":"b"}',
            b"{'a':1}",
            b"[1,]",
            b"1e999999",
            b"-" + b"9" * 5_000,
            b"9" * 5_000 + b".5",
            b"0x10",
            b"01",
            b"[NaN,Infinity,-Infinity]",
            b"nul",
            b"{} {}",
            b'"' + b"x" * 70_000 + b'"',
            b'{"' + b"k" * 3_000 + b'":1}',
        ]
    )
    | st.binary(max_size=40)
)
"""Bytes that are JSON, nearly JSON, or nothing of the kind."""


def mutations(valid: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Bytes that were valid until something was put in, taken out or written over."""
    return st.builds(
        _mutated,
        valid,
        st.integers(0, 10_000),
        st.binary(max_size=3)
        | st.sampled_from([b"null", b'"', b"{", b"}", b"[", b"1e9", b"\\ud800", b"\xff"]),
        st.integers(0, 6),
    )
