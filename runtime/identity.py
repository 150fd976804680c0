"""Execution ids, idempotency keys and step ids: derived, never random (G5, DESIGN section 6).

The formula, reproducible in any language with a version 5 UUID:

    execution_id    = uuid5(EXECUTION_NAMESPACE, canonical JSON of
                            [temporal namespace, workflow id, original run id, activity id])
    idempotency_key = uuid5(KEY_NAMESPACE, execution_id)

For a standalone activity (one request without a workflow) the array is
``[temporal namespace, activity id, activity run id]``; three members instead of four keep the two
kinds apart.
"""

import os
from functools import lru_cache
from typing import Final
from uuid import UUID

from .actor import identifier_problem
from .canonical import canonical_json
from .digest import sha1_hex

EXECUTION_NAMESPACE: Final = UUID("5b0c1a52-3f0e-5d5e-9d2c-6f1f0b7f4a01")
KEY_NAMESPACE: Final = UUID("5b0c1a52-3f0e-5d5e-9d2c-6f1f0b7f4a02")
BUSINESS_NAMESPACE: Final = UUID("5b0c1a52-3f0e-5d5e-9d2c-6f1f0b7f4a03")

_AT_ONCE: Final = 64
"""How many random ids the system is asked for at a time: asking is half of what one costs."""

_unused: Final[list[str]] = []
if hasattr(os, "register_at_fork"):  # a child must not give the ids that its parent will
    os.register_at_fork(after_in_child=_unused.clear)


def workflow_execution_id(
    namespace: str, workflow_id: str, original_run_id: str, activity_id: str
) -> str:
    """The execution id of an activity that a workflow scheduled.

    Args:
        namespace: Temporal namespace.
        workflow_id: Workflow id.
        original_run_id: ``original_execution_run_id`` of the run: the same after a reset, new after
            continue-as-new and when the workflow id is used again. In a run that a workflow-level
            retry started, that of the first attempt.
        activity_id: The step id.

    Returns:
        A UUID of 36 characters.
    """
    place = _place(namespace, workflow_id, original_run_id)
    return _uuid_text(sha1_hex(place + canonical_json(activity_id) + b"]"), "5")


@lru_cache(maxsize=1024)
def _place(namespace: str, workflow_id: str, original_run_id: str) -> bytes:
    """What the ids of all executions of a run are made of, up to the step."""
    array = canonical_json([namespace, workflow_id, original_run_id])
    return EXECUTION_NAMESPACE.bytes + array.removesuffix(b"]") + b","


def standalone_execution_id(namespace: str, activity_id: str, activity_run_id: str) -> str:
    """The execution id of a standalone activity: one request without a workflow."""
    name = canonical_json([namespace, activity_id, activity_run_id])
    return _uuid5(EXECUTION_NAMESPACE, name)


def idempotency_key(execution_id: str) -> str:
    """The key that a handler hands to whatever keeps the effect (36 characters, G5)."""
    return _uuid5(KEY_NAMESPACE, execution_id.encode())


def business_key(capability_id: str, parts: tuple[object, ...]) -> str:
    """A key for what must happen once *across* executions, such as one refund per order.

    Args:
        capability_id: The capability that owns the rule.
        parts: What identifies the business fact: strings, numbers, and JSON-like values of these.

    Returns:
        A UUID of 36 characters. Storing and checking it is the application's (DESIGN section 6).

    Raises:
        ValueError: No parts, or a part that is not JSON.
    """
    if not parts:
        raise ValueError("a business key needs at least one part, for example the order id")
    name = canonical_json([capability_id, *parts])
    return _uuid5(BUSINESS_NAMESPACE, name)


def automatic_step(capability_id: str, raw_hash: str, count: int) -> str:
    """The activity id given where the caller names no step.

    Args:
        capability_id: The capability asked for.
        raw_hash: Hash of the raw input.
        count: How often this run has asked for the same, this time included.

    Returns:
        For example ``orders.refund-1f3a9c07-1``: it follows what is asked, not when.
    """
    return f"{capability_id}-{raw_hash[:8]}-{count}"


def check_identifier(what: str, value: str) -> str:
    """Refuses an id that is empty, blank at an end, overlong, or has control characters.

    Args:
        what: How the id is called in the message, for example ``step``.
        value: The id.

    Returns:
        The id, unchanged.

    Raises:
        ValueError: Says what is wrong and what to give instead. The value is not repeated.
    """
    problem = identifier_problem(value)
    if problem is not None:
        raise ValueError(f"{what} {problem}")
    return value


def random_id() -> str:
    """A new id that nothing else has: a version 4 UUID, for what is derived from nothing."""
    try:
        digits = _unused.pop()
    except IndexError:
        fresh = os.urandom(16 * _AT_ONCE).hex()
        _unused.extend(fresh[start : start + 32] for start in range(32, len(fresh), 32))
        digits = fresh[:32]
    return _uuid_text(digits, "4")


def _uuid5(namespace: UUID, name: bytes) -> str:
    """As `uuid.uuid5`, in a third of the time: every execution derives ids on both sides."""
    return _uuid_text(sha1_hex(namespace.bytes + name), "5")


def _uuid_text(digits: str, version: str) -> str:
    variant = "89ab"[int(digits[16], 16) & 3]
    return (
        f"{digits[:8]}-{digits[8:12]}-{version}{digits[13:16]}"
        f"-{variant}{digits[17:20]}-{digits[20:32]}"
    )
