"""What is wrong with the metadata of a capability, in words that say what to do (DESIGN section 4).

Nothing is inferred and nothing is put right: a value of the wrong type is a problem, as is one out
of its bounds. `CapabilityRegistry` collects the lines of all its capabilities.
"""

import inspect
import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any, Final

from .capability import Approval, Capability
from .names import RESERVED_PREFIX, RISKS, SIDE_EFFECTS, SURFACES, WRITE_LIKE
from .placement import problems_of_placement
from .policy import PHASES, Policy
from .reconcile import Reconcile
from .retry import Retry
from .shape import is_frozenset
from .signature import problems_of_signature

LONGEST_ID: Final = 100
"""Characters of a capability id, so that the step ids made of it stay short enough to read."""

LONGEST_DURATION: Final = timedelta(days=30)
"""Bound of every duration of a capability: a longer one is a mistake of units."""

_DOT_PATH: Final = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+")


def problems_of_metadata(capability: Capability[Any, Any]) -> Iterator[str]:
    """Yields a line for each metadata value that is missing, of the wrong type or out of bounds."""
    yield from _problems_of_id(capability.id)
    yield from _problems_of_text("description", capability.description, "say what it does")
    yield from _problems_of_exposure(capability.expose)
    yield from _problems_of_choice("side_effect", capability.side_effect, SIDE_EFFECTS)
    yield from _problems_of_choice("risk", capability.risk, RISKS)
    yield from _problems_of_retry(capability)
    yield from _problems_of_duration("timeout", capability.timeout)
    if capability.queue_timeout is not None:
        yield from _problems_of_duration("queue_timeout", capability.queue_timeout)
    if capability.approval is not None:
        yield from _problems_of_approval(capability.approval)
    yield from problems_of_placement(capability)
    yield from _problems_of_tags(capability.tags)
    if capability.reconcile is not None:
        yield from _problems_of_reconcile(capability)
    yield from problems_of_policies(capability.policies)
    yield from problems_of_middleware(capability.middleware)


def problems_of_policies(policies: Iterable[object]) -> Iterator[str]:
    """Yields a line for each policy of an unknown phase, or that cannot take a request."""
    for entry in policies:
        if not isinstance(entry, Policy):
            yield f"policies has {_shown(entry)}: give a Policy or a function"
            continue
        name = entry.name or _shown(entry.function)
        if entry.phase not in PHASES:
            yield f"policy {name} has the phase {_shown(entry.phase)}: give {_either(PHASES)}"
        if not _takes(entry.function, 1):
            yield f"policy {name} cannot be called with a request: give it one parameter"


def problems_of_middleware(middleware: Iterable[object]) -> Iterator[str]:
    """Yields a line for each middleware that cannot take a context and the rest of the chain."""
    for entry in middleware:
        if not _takes(entry, 2):
            yield f"middleware {_shown(entry)} is not a function of (ctx, proceed): make it one"


def _problems_of_id(value: object) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"id is {_shown(value)}: give a dot path such as orders.refund"
        return
    if len(value) > LONGEST_ID:
        yield f"id has {len(value)} characters: give at most {LONGEST_ID}"
    if not _DOT_PATH.fullmatch(value):
        yield (
            "id is not a dot path: give two or more segments of lower-case letters, digits and _, "
            "such as orders.refund"
        )
    elif value.startswith(RESERVED_PREFIX):
        yield f"id begins with {RESERVED_PREFIX}, which is the library's own: give another"


def _problems_of_text(what: str, value: object, remedy: str) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"{what} is {_shown(value)}: give text"
    elif not value.strip():
        yield f"{what} is empty: {remedy}"


def _problems_of_exposure(value: object) -> Iterator[str]:
    if not is_frozenset(value):
        yield f"expose is {_shown(value)}: give a set of {_either(SURFACES)}"
        return
    if not value:
        yield f"expose is empty, so nobody can ask for it: give some of {_either(SURFACES)}"
    for surface in sorted(value.difference(SURFACES), key=repr):
        yield f"expose has the unknown surface {_shown(surface)}: give some of {_either(SURFACES)}"


def _problems_of_choice(what: str, value: object, choices: tuple[str, ...]) -> Iterator[str]:
    if value not in choices:
        yield f"{what} is {_shown(value)}: give {_either(choices)}"


def _problems_of_retry(capability: Capability[Any, Any]) -> Iterator[str]:
    if not _is(capability.idempotent, bool):
        yield f"idempotent is {_shown(capability.idempotent)}: give True or False"
    if capability.retry is None:
        return
    if not _is(capability.retry, Retry):
        yield f"retry is {_shown(capability.retry)}: give Retry(max_retries=...) or leave it out"
    elif str(capability.side_effect) in WRITE_LIKE and capability.idempotent is not True:
        yield (
            f"retry is given for side_effect={capability.side_effect!r} without idempotent=True: "
            "declare idempotent=True if repeating it under one key is safe, or leave retry out (G2)"
        )


def _problems_of_duration(what: str, value: object) -> Iterator[str]:
    if not isinstance(value, timedelta):
        yield f"{what} is {_shown(value)}: give a timedelta"
    elif value <= timedelta(0):
        yield f"{what} is {value}: give more than zero"
    elif value > LONGEST_DURATION:
        yield f"{what} is {value}: give at most {LONGEST_DURATION.days} days"


def _problems_of_approval(value: object) -> Iterator[str]:
    if not isinstance(value, Approval):
        yield f"approval is {_shown(value)}: give Approval(...) or leave it out"
        return
    if not _is(value.required, bool):
        yield f"approval.required is {_shown(value.required)}: give True or False"
    for what, text in (("approval.type", value.type), ("approval.reason", value.reason)):
        if text is not None:
            yield from _problems_of_text(what, text, "give text or leave it out")
    yield from _problems_of_duration("approval.expires_in", value.expires_in)


def _problems_of_reconcile(capability: Capability[Any, Any]) -> Iterator[str]:
    reconcile: object = capability.reconcile
    if not isinstance(reconcile, Reconcile):
        yield f"reconcile is {_shown(reconcile)}: give a function or Reconcile(...)"
        return
    if capability.side_effect not in WRITE_LIKE:
        yield (
            f"reconcile is given for side_effect={capability.side_effect!r}, which leaves nothing "
            "unknown: leave it out"
        )
    yield from problems_of_signature(reconcile.function, "reconcile")
    if not _is(reconcile.run_again, bool):
        yield f"reconcile.run_again is {_shown(reconcile.run_again)}: give True or False"
    yield from _problems_of_duration("reconcile.timeout", reconcile.timeout)


def _problems_of_tags(value: object) -> Iterator[str]:
    if not is_frozenset(value):
        yield f"tags is {_shown(value)}: give a set of words"
        return
    for tag in sorted(value, key=repr):
        if not isinstance(tag, str) or not tag.strip():
            yield f"tags has {_shown(tag)}: give words that are not empty"


def _is(value: object, kind: type) -> bool:
    # Asked through `object`: to a type checker the declared type leaves nothing to ask.
    return isinstance(value, kind)


def _takes(function: object, count: int) -> bool:
    if not callable(function):
        return False
    try:
        inspect.signature(function).bind(*([None] * count))
    except TypeError:
        return False
    except ValueError:  # a built-in without a signature: only a call can tell
        return True
    return True


def _either(choices: tuple[str, ...]) -> str:
    return f"{', '.join(choices[:-1])} or {choices[-1]}"


def _shown(value: object) -> str:
    """The value as a message may show it, on one line and not too long."""
    text = getattr(value, "__qualname__", None)
    if text is None:
        # What is called may hold anything: a `functools.partial` shows all that it was given.
        text = f"a {type(value).__name__}" if callable(value) else repr(value)
    return " ".join(str(text).split())[:80]
