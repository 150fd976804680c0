"""SHA-1 and SHA-256 of short texts, by Python's own code where it is there.

`hashlib` goes to OpenSSL, and the way there is long: between two Temporal tasks, when the
processor's caches are cold, a hash takes 28 microseconds by it and 9 by Python's own code
(measured). Four are taken for each execution. What is long goes to OpenSSL, which is faster by the
byte. The result is the same, whoever computes it.
"""

import hashlib
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

LONG: Final = 2048
"""Bytes from which OpenSSL is the faster one."""


def sha256_hex(data: bytes) -> str:
    """SHA-256 in lower-case hexadecimal, 64 characters."""
    make = hashlib.sha256 if len(data) > LONG else _own_sha256
    digest: str = make(data).hexdigest()
    return digest


def sha1_hex(data: bytes) -> str:
    """SHA-1 in lower-case hexadecimal, 40 characters: for version 5 UUIDs, never for security."""
    make = hashlib.sha1 if len(data) > LONG else _own_sha1
    digest: str = make(data, usedforsecurity=False).hexdigest()
    return digest


# Constructors of hash objects, for which the standard library has no public type.
def _own(modules: tuple[str, ...], name: str) -> Callable[..., Any]:
    """Python's own code, under the name that this version has for it; else that of `hashlib`."""
    for module in modules:
        try:
            found: Callable[..., Any] = getattr(import_module(module), name)
            found(b"")  # a build for FIPS may have it and refuse it
        except (ImportError, AttributeError, ValueError):
            continue
        return found
    fallback: Callable[..., Any] = getattr(hashlib, name)
    return fallback


_own_sha1: Final = _own(("_sha1",), "sha1")
_own_sha256: Final = _own(("_sha2", "_sha256"), "sha256")
