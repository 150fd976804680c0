"""Type guards for plain data: after them a type checker knows that members are unknown objects.

`isinstance` alone leaves members of type "unknown", over which both type checkers fall silent or
complain.
"""

from collections.abc import Iterable
from typing import TypeGuard


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Whether it is a JSON object, or a mapping of which only string keys are asked for."""
    return isinstance(value, dict)


def is_mapping(value: object) -> TypeGuard[dict[object, object]]:
    """Whether it is a mapping with any keys."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[object]]:
    """Whether it is a JSON array."""
    return isinstance(value, list)


def is_iterable(value: object) -> TypeGuard[Iterable[object]]:
    """Whether it can be walked."""
    return isinstance(value, Iterable)


def is_row(value: object) -> TypeGuard[list[object] | tuple[object, ...]]:
    """Whether it is a list or a tuple."""
    return isinstance(value, list | tuple)


def is_tuple(value: object) -> TypeGuard[tuple[object, ...]]:
    """Whether it is a tuple."""
    return isinstance(value, tuple)


def is_set(value: object) -> TypeGuard[set[object] | frozenset[object]]:
    """Whether it is a set of either kind."""
    return isinstance(value, set | frozenset)


def is_frozenset(value: object) -> TypeGuard[frozenset[object]]:
    """Whether it is a set that cannot be changed."""
    return isinstance(value, frozenset)
