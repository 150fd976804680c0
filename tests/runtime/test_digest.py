"""Hashes are those of the standard library, whichever code computes them."""

import hashlib

import pytest

from temperance.runtime import digest

TEXTS = [b"", b"a", "é".encode(), b"x" * digest.LONG, b"x" * (digest.LONG + 1)]


@pytest.mark.parametrize("data", TEXTS)
def test_a_hash_is_that_of_the_standard_library(data: bytes) -> None:
    assert digest.sha256_hex(data) == hashlib.sha256(data).hexdigest()
    assert digest.sha1_hex(data) == hashlib.sha1(data, usedforsecurity=False).hexdigest()


def test_where_pythons_own_code_is_missing_or_refuses_openssl_computes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Refusing:
        @staticmethod
        def sha1(data: bytes) -> None:
            raise ValueError(f"disabled for FIPS: {len(data)}")

    def load(module: str) -> type[Refusing]:
        del module
        return Refusing

    monkeypatch.setattr(digest, "import_module", load)
    assert digest._own(("_sha1",), "sha1") is hashlib.sha1
    assert digest._own(("_sha2", "_sha256"), "sha256") is hashlib.sha256
