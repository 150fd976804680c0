"""Plants a secret in every field of every data class of the package, and says where it shows."""

import dataclasses
import importlib
import inspect
import pkgutil
import types
import typing
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from pydantic import BaseModel

import temperance

SECRET = "sk-planted-4711"

_NUMBERS: tuple[object, ...] = (bool, int, float, timedelta, datetime, types.NoneType)
_CONTAINERS: tuple[object, ...] = (tuple, list, set, frozenset, dict)


class Planted:
    """An object of an application's own that would tell a secret, if it were asked."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def modules() -> Iterator[types.ModuleType]:
    """Every module of the package."""
    yield temperance
    for found in pkgutil.walk_packages(temperance.__path__, "temperance."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def classes() -> list[type]:
    """Every class that the package defines, in the order of their names."""
    found = {
        value
        for module in modules()
        for value in vars(module).values()
        if inspect.isclass(value) and value.__module__ == module.__name__
    }
    return sorted(found, key=lambda entry: f"{entry.__module__}.{entry.__qualname__}")


def is_data(entry: Any) -> bool:
    """Whether its text is made of its fields: dataclasses, models, named tuples."""
    return dataclasses.is_dataclass(entry) or issubclass(entry, BaseModel) or _is_named_tuple(entry)


def _is_named_tuple(entry: Any) -> bool:
    return tuple in entry.__mro__ and hasattr(entry, "_fields")


def fields_of(entry: Any) -> tuple[str, ...]:
    """The names of the fields of a data class."""
    if dataclasses.is_dataclass(entry):
        return tuple(field.name for field in dataclasses.fields(entry))
    if issubclass(entry, BaseModel):
        return tuple(entry.model_fields)
    return tuple(getattr(entry, "_fields", ()))


def planted(entry: Any) -> object:  # a class, of whatever fields
    """An instance each of whose fields tells the secret and the field's name."""
    values = {name: Planted(f"{SECRET}:{name};") for name in fields_of(entry)}
    if issubclass(entry, BaseModel):
        return entry.model_construct(None, **values)
    if _is_named_tuple(entry):
        return entry(**values)
    made: object = object.__new__(entry)
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made


def shown_by(text: str, entry: type) -> set[str]:
    """The fields whose secret is in a text."""
    return {name for name in fields_of(entry) if f"{SECRET}:{name};" in text}


def harmless(entry: type) -> set[str]:
    """The fields that hold numbers, words of a closed set, times, or objects of the package.

    Data classes and exceptions are looked at by themselves, others show nothing of what they hold.
    """
    # `Request` names a type that it imports for type checkers only.
    names = {name: getattr(temperance, name) for name in ("Capability",)}
    hints = typing.get_type_hints(entry, localns=names)
    return {name for name in fields_of(entry) if all(map(_is_harmless, _parts(hints[name])))}


def _parts(annotation: object) -> Iterator[object]:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return
    if origin is None:
        yield annotation
    elif isinstance(origin, type) and origin is not types.UnionType:
        yield origin
    for argument in arguments:
        yield from _parts(argument)


def _is_harmless(part: object) -> bool:
    if part is Ellipsis or part in _NUMBERS or part in _CONTAINERS:
        return True
    if not isinstance(part, type) or not part.__module__.startswith("temperance"):
        return False
    return is_data(part) or issubclass(part, Exception) or part.__repr__ is object.__repr__
