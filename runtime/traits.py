"""What the schema of a type says of its values beyond their shape.

Read from pydantic's core schema, where models, dataclasses, typed dictionaries, unions and aliases
look alike.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from .shape import is_array, is_object, is_row

_MAY_BE_SETS: Final = frozenset(
    {
        "any",
        "callable",
        "frozenset",
        "function-plain",
        "generator",
        "is-instance",
        "is-subclass",
        "set",
    }
)
"""Core schema types whose values are sets, or may be anything."""

_MAY_BE_NUMBERS: Final = _MAY_BE_SETS - {"frozenset", "set"} | {"float"}
"""Core schema types whose values are floating-point numbers, or may be anything."""

_MASKS: Final = frozenset({"_serialize_secret", "_serialize_secret_field"})
"""Names of pydantic's own functions that write a secret as asterisks."""

_HAVE_CLASS: Final = frozenset({"dataclass", "model"})

_NO_SCHEMA: Final = frozenset({"cls", "default", "expected", "metadata", "ref", "schema_ref"})
"""Keys of a core schema that hold the application's own values, never a schema."""

_BY_NAME: Final = frozenset({"choices", "fields"})
"""Keys whose mappings are from names, which may be any word, to schemas."""


@dataclass(frozen=True, slots=True)
class Traits:
    """Traits of a type.

    Args:
        says_extra: Whether some part of it says in its own configuration that extra fields are
            allowed or ignored.
        may_hold_sets: Whether its values may hold sets, whose order differs between processes.
        may_lose_numbers: Whether what is not a number, or is infinite, is written as null.
        masked: Whether some part of it is written as asterisks.
        names: The words that a path into a value may have from the type alone: names and aliases
            of fields, tags of unions.
        classes: The models and dataclasses of which a value itself, or what is in a list or mapping
            and not inside of another one, must be an instance; ``None`` where it may be anything.
            Of a generic one, its origin: with which parameters an instance was made, its fields
            tell.
        modules: Names of the modules that define the classes anywhere in it.
        excluded: Fields that are left out when it is written, and for each whether it has a
            default, so that a value without it can be read.
    """

    says_extra: bool
    may_hold_sets: bool
    may_lose_numbers: bool
    masked: bool
    names: frozenset[str]
    classes: tuple[type, ...] | None
    modules: frozenset[str]
    excluded: tuple[tuple[str, bool], ...]


def traits_of(core_schema: object) -> Traits:
    """The traits of a type, read from its core schema."""
    says_extra = may_hold_sets = may_hold_numbers = says_numbers = False
    names: set[str] = {"[key]"}
    modules: set[str] = set()
    excluded: dict[str, bool] = {}
    for part in _parts(core_schema):
        extra = part.get("extra_fields_behavior", part.get("extra_behavior"))
        says_extra = says_extra or extra in {"allow", "ignore"}
        kind = part.get("type")
        may_hold_sets = may_hold_sets or extra == "allow" or kind in _MAY_BE_SETS
        may_hold_numbers = may_hold_numbers or extra == "allow" or kind in _MAY_BE_NUMBERS
        says_numbers = says_numbers or part.get("ser_json_inf_nan") in {"constants", "strings"}
        names.update(_words(part))
        modules.add(getattr(part.get("cls"), "__module__", "builtins"))
        for name, field in _fields(part.get("fields")):
            names.update((name, *_words(field)))
            if field.get("serialization_exclude") or field.get("serialization_exclude_if"):
                excluded[name] = excluded.get(name, True) and _has_default(field)
    return Traits(
        says_extra=says_extra,
        may_hold_sets=may_hold_sets,
        may_lose_numbers=may_hold_numbers and not says_numbers,
        masked=_is_masked(core_schema),
        names=frozenset(names),
        classes=_classes(core_schema),
        modules=frozenset(modules),
        excluded=tuple(excluded.items()),
    )


def _parts(node: object) -> Iterator[dict[str, object]]:
    """Walks every schema and configuration inside a core schema."""
    if is_object(node):
        yield node
        for key, value in node.items():
            if key in _BY_NAME and is_object(value):
                yield from _parts([*value.values()])
            elif key not in _NO_SCHEMA:
                yield from _parts(value)
    elif is_row(node):
        for member in node:
            yield from _parts(member)


def _words(part: dict[str, object]) -> Iterator[str]:
    """Gives the alias of a field, or the tags of a union, where they are words."""
    choices = part.get("choices")
    for word in (part.get("validation_alias"), *(choices if is_object(choices) else ())):
        if isinstance(word, str):
            yield word


def _is_masked(node: object) -> bool:
    """Whether a secret of pydantic's is written by pydantic's own function.

    A serializer that is put around one decides by itself, so nothing inside of it is looked at.
    """
    if is_row(node):
        return any(_is_masked(member) for member in node)
    if not is_object(node):
        return False
    writing = node.get("serialization")
    if is_object(writing) and writing.get("type") == "function-plain":
        return getattr(writing.get("function"), "__name__", None) in _MASKS
    return any(
        _is_masked([*value.values()] if key in _BY_NAME and is_object(value) else value)
        for key, value in node.items()
        if key not in _NO_SCHEMA
    )


def _classes(core_schema: object) -> tuple[type, ...] | None:
    found: list[type] = []
    for part in _outer_parts(core_schema):
        kind, class_ = part.get("type"), part.get("cls")
        if kind in _HAVE_CLASS and isinstance(class_, type):
            generic = getattr(class_, "__pydantic_generic_metadata__", None)
            origin = generic["origin"] if is_object(generic) else None
            found.append(origin if isinstance(origin, type) else class_)
        elif kind in _MAY_BE_NUMBERS - {"float"}:
            return None
    return tuple(found)


def _outer_parts(node: object) -> Iterator[dict[str, object]]:
    """Walks a core schema as `_parts` does, but not into models and dataclasses."""
    if is_object(node):
        yield node
        if node.get("type") in _HAVE_CLASS:
            return
        for key, value in node.items():
            if key in _BY_NAME and is_object(value):
                yield from _outer_parts([*value.values()])
            elif key not in _NO_SCHEMA:
                yield from _outer_parts(value)
    elif is_row(node):
        for member in node:
            yield from _outer_parts(member)


def _fields(fields: object) -> Iterator[tuple[str, dict[str, object]]]:
    """Gives the fields, which are a mapping in a model and a list in a dataclass."""
    if is_object(fields):
        yield from ((name, field) for name, field in fields.items() if is_object(field))
    elif is_array(fields):
        yield from ((str(field["name"]), field) for field in fields if is_object(field))


def _has_default(field: dict[str, object]) -> bool:
    schema = field.get("schema")
    return field.get("required") is False or (is_object(schema) and schema.get("type") == "default")
