"""Redaction: what never leaves the worker (G10, DESIGN sections 5 and 7).

A rule is a tuple of dot paths, whose fields are left out, or a function that gives a value which
may be seen. A path goes through lists: ``lines.card`` leaves out the card of every line. Whatever
goes wrong closes: the caller gets INTERNAL_ERROR, and nothing of the value.
"""

import inspect
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from pydantic import JsonValue
from pydantic_core import from_json, to_json, to_jsonable_python

from .capability import Capability, Redact, RedactRule
from .error import CapabilityError
from .schema import Schema
from .shape import is_tuple


def apply(rule: RedactRule, schema: Schema[Any], value: object) -> bytes:
    """Redacts an output.

    Args:
        rule: Paths or a function.
        schema: The output's schema.
        value: The validated output.

    Returns:
        JSON of the redacted output, which the schema reads back. The fields of paths are absent.

    Raises:
        CapabilityError: INTERNAL_ERROR in stage ``redaction``, never retryable: the function raised
            or gave no output, or what remains is not one.
    """
    try:
        if callable(rule):
            data = schema.to_json(schema.from_python(_settled(rule(value))))
        else:
            data = to_json(_without(rule, from_json(schema.to_json(value))))
        # An instance is not looked into when it is validated, and a validator of the whole model
        # may not like what is left: only reading it tells that the caller can.
        schema.read(data)
    except Exception as error:  # noqa: BLE001 - the function and the model are the application's
        _close(error)
    return data


def displayed_input(capability: Capability[Any, Any], value: object) -> JsonValue:
    """The input as approvers see it.

    Args:
        capability: What is to be approved, with ``redact.approval_input``.
        value: The validated input. An approval binds all of it, shown or not.

    Returns:
        JSON. A function may give any JSON-like value: what it gives is shown, and never read back.

    Raises:
        CapabilityError: As `apply`.
    """
    rule = capability.redact.approval_input
    try:
        shown: JsonValue
        if callable(rule):
            shown = to_jsonable_python(_settled(rule(value)), inf_nan_mode="null")
        else:
            shown = _without(rule or (), from_json(capability.input_schema.to_json(value)))
    except Exception as error:  # noqa: BLE001 - as in apply
        _close(error)
    return shown


def problems_of_redaction(capability: Capability[Any, Any]) -> Iterator[str]:
    """Yields what is wrong with the rules of a capability.

    A path must name a field of the type, as it is written in JSON; in the output, one with a
    default, so that what is left still is an output.
    """
    redact: object = capability.redact
    if not isinstance(redact, Redact):
        yield f"redact is {redact!r}: give Redact(...)"
        return
    yield from _problems_of_rule("redact.output", redact.output)
    yield from _problems_of_rule("redact.approval_input", redact.approval_input)
    try:
        output, accepted = capability.output_schema, capability.input_schema
    except Exception:  # noqa: BLE001 - what is wrong with the types is said where they are checked
        return
    yield from _problems_of_paths("redact.output", redact.output, output, True)
    yield from _problems_of_paths("redact.approval_input", redact.approval_input, accepted, False)


def _problems_of_rule(what: str, rule: object) -> Iterator[str]:
    if inspect.iscoroutinefunction(rule):
        yield f"{what} is an async function: give a plain one"
    elif rule == ():
        yield f"{what} is empty: name the fields to leave out, or leave it out"
    elif rule is not None and not callable(rule) and not is_tuple(rule):
        yield f"{what} is neither a tuple of dot paths nor a function: give one of them"


def _close(error: Exception) -> NoReturn:
    # `from None`: the chain would carry the value into every traceback; the cause stays private.
    raise CapabilityError(
        "INTERNAL_ERROR", stage="redaction", retryable=False, cause=error
    ) from None


def _settled(result: object) -> object:
    if inspect.iscoroutine(result):
        result.close()
        raise TypeError("the function is async")
    if result is None:
        raise TypeError("the function gave nothing")
    return result


def _without(paths: Iterable[str], plain: JsonValue) -> JsonValue:
    for path in paths:
        _drop(plain, path.split("."))
    return plain


def _drop(plain: JsonValue, names: list[str]) -> None:
    if isinstance(plain, list):
        for item in plain:
            _drop(item, names)
    elif isinstance(plain, dict):
        if len(names) == 1:
            plain.pop(names[0], None)
        elif names[0] in plain:
            _drop(plain[names[0]], names[1:])


def _problems_of_paths(
    what: str, rule: object, schema: Schema[Any], needs_default: bool
) -> Iterator[str]:
    if not is_tuple(rule):
        return
    accepted = schema.json_schema("validation", by_alias=False)
    written = schema.json_schema("serialization", by_alias=False)
    for path in rule:
        names = path.split(".") if isinstance(path, str) else []
        found = list(_fields(accepted, accepted, names)) if names else []
        if not found or not any(_fields(written, written, names)):
            yield f"{what} has the path {path!r}, which the type does not have: name a field of it"
        elif needs_default and not all(has_default for _, has_default in found):
            yield (
                f"{what} has the path {path!r}, a field without a default: "
                "give it one, so that the rest still is an output"
            )


def _fields(
    root: dict[str, Any], schema: dict[str, Any], names: list[str]
) -> Iterator[tuple[dict[str, Any], bool]]:
    """Finds the fields that a path names: their schema, and whether they may be left out."""
    for variant in _objects(root, schema, set()):
        field = variant.get("properties", {}).get(names[0])
        if field is None:
            continue
        if len(names) == 1:
            yield field, names[0] not in variant.get("required", ())
        else:
            yield from _fields(root, field, names[1:])


def _objects(
    root: dict[str, Any], schema: dict[str, Any], seen: set[str]
) -> Iterator[dict[str, Any]]:
    """Finds the object schemas behind references, unions and arrays, as `_drop` meets them."""
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference not in seen:
        target = root["$defs"][reference.removeprefix("#/$defs/")]
        yield from _objects(root, target, seen | {reference})
    if "properties" in schema:
        yield schema
    inner = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())]
    inner += schema.get("prefixItems", ())
    if isinstance(schema.get("items"), dict):
        inner.append(schema["items"])
    for entry in inner:
        yield from _objects(root, entry, seen)
