"""One kept validator and serializer per input or output type.

Building a pydantic adapter per call costs ten times the validation itself (DESIGN section 12), so a
capability keeps two of these. Values travel by field name, and are accepted by field name and by
alias: whatever aliases a model declares, what one side writes the other side reads.
"""

from typing import Final, Generic, Literal, TypeVar, get_args

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from .canonical import canonical_json

T = TypeVar("T")

MOST_PROBLEMS: Final = 20
"""How many problems of an invalid input are named; the rest is counted."""

_TEXT_FREE: Final = frozenset({"value_error", "assertion_error"})
"""Error types whose message is the application's own text and may repeat the value."""


class Schema(Generic[T]):
    """Validates, writes and hashes the values of one type.

    Args:
        type_: Any type that pydantic can validate and serialize.

    Raises:
        pydantic.errors.PydanticUserError: The type has no schema.
    """

    __slots__ = ("_has_sets", "adapter", "extra", "serializer", "type", "validator")

    def __init__(self, type_: type[T]) -> None:
        self.type = type_
        self.adapter: TypeAdapter[T] = TypeAdapter(type_)
        self.validator = self.adapter.validator
        self.serializer = self.adapter.serializer
        self.extra: Literal["forbid"] | None = None if _says_extra(type_, set()) else "forbid"
        self._has_sets = _may_hold_sets(self.json_schema("serialization"))

    def from_json(self, data: bytes | str) -> T:
        """Validates JSON from a stranger: a field the type does not have is refused.

        A model that says ``extra`` in its own configuration is taken at its word.

        Raises:
            pydantic.ValidationError: The JSON does not parse or does not fit the type.
        """
        value: T = self.validator.validate_json(data, extra=self.extra, by_alias=True, by_name=True)
        return value

    def from_python(self, value: object) -> T:
        """Validates a JSON-like Python value as `from_json` does."""
        valid: T = self.validator.validate_python(
            value, extra=self.extra, by_alias=True, by_name=True
        )
        return valid

    def read(self, data: bytes) -> T:
        """Validates JSON that `to_json` wrote; computed fields in it are passed over.

        Raises:
            pydantic.ValidationError: The JSON does not fit the type.
        """
        extra: Literal["ignore"] | None = "ignore" if self.extra == "forbid" else None
        value: T = self.validator.validate_json(data, extra=extra, by_alias=True, by_name=True)
        return value

    def to_json(self, value: T) -> bytes:
        """Writes a value so that `from_json` takes it: no computed fields.

        Raises:
            pydantic_core.PydanticSerializationError: The value is not of the type.
        """
        return self.serializer.to_json(value, by_alias=False, round_trip=True, warnings="error")

    def canonical(self, value: T) -> bytes:
        """Canonical JSON of a validated value, the same in every process.

        Raises:
            ValueError: The value has no canonical form (not-a-number, infinity).
        """
        plain = self.serializer.to_python(value, mode="json", by_alias=False, round_trip=True)
        if self._has_sets:
            kept = self.serializer.to_python(value, mode="python", by_alias=False, round_trip=True)
            plain = _sort_sets(kept, plain)
        return canonical_json(plain)

    def json_schema(self, mode: Literal["validation", "serialization"]) -> dict[str, JsonValue]:
        """JSON schema of the type, as tool descriptors carry it."""
        return self.adapter.json_schema(by_alias=mode == "validation", mode=mode)


def problems_of(error: ValidationError) -> list[JsonValue]:
    """What was wrong with an input: paths and reasons, never values (G10).

    Args:
        error: What pydantic raised.

    Returns:
        At most 20 objects with ``path``, ``type`` and ``message``; a last one counts the rest.
    """
    found = error.errors(include_url=False, include_context=False, include_input=False)
    shown: list[JsonValue] = []
    for problem in found[:MOST_PROBLEMS]:
        kind = problem["type"]
        text = "The value is not valid" if kind in _TEXT_FREE else problem["msg"]
        shown.append({"path": _path(problem["loc"]), "type": kind, "message": text})
    if len(found) > MOST_PROBLEMS:
        rest = len(found) - MOST_PROBLEMS
        shown.append({"path": "", "type": "more", "message": f"{rest} more problems"})
    return shown


def _path(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(part)[:64] for part in loc[:16])


def _says_extra(annotation: object, seen: set[object]) -> bool:
    """Whether a model inside the annotation says in its configuration how to treat extra fields."""
    try:
        if annotation in seen:
            return False
        seen.add(annotation)
    except TypeError:  # an unhashable annotation cannot be a class, but its arguments may hold one
        pass
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if "extra" in annotation.model_config and annotation.model_config["extra"] != "forbid":
            return True
        return any(
            _says_extra(field.annotation, seen) for field in annotation.model_fields.values()
        )
    return any(_says_extra(argument, seen) for argument in get_args(annotation))


def _may_hold_sets(schema: JsonValue) -> bool:
    """Whether the JSON schema has sets, or values of any kind, which may be sets."""
    if isinstance(schema, dict):
        if schema.get("uniqueItems") is True:
            return True
        properties = schema.get("properties")
        if isinstance(properties, dict) and any(
            isinstance(entry, dict) and not (entry.keys() - {"title", "description", "default"})
            for entry in properties.values()
        ):
            return True
        return any(_may_hold_sets(value) for value in schema.values())
    if isinstance(schema, list):
        return any(_may_hold_sets(value) for value in schema)
    return False


def _sort_sets(kept: object, plain: object) -> object:
    """Sorts the arrays of ``plain`` that are sets in ``kept``, the same value kept as Python."""
    if isinstance(kept, set | frozenset) and isinstance(plain, list):
        return sorted((_sort_lists(item) for item in plain), key=canonical_json)
    if isinstance(kept, dict) and isinstance(plain, dict) and len(kept) == len(plain):
        pairs = zip(kept.values(), plain.items(), strict=True)
        return {name: _sort_sets(value, written) for value, (name, written) in pairs}
    if isinstance(kept, list | tuple) and isinstance(plain, list) and len(kept) == len(plain):
        return [_sort_sets(value, written) for value, written in zip(kept, plain, strict=True)]
    return plain


def _sort_lists(plain: object) -> object:
    """Inside a set every array is sorted: a member of a set that is itself a set has no order."""
    if isinstance(plain, list):
        return sorted((_sort_lists(item) for item in plain), key=canonical_json)
    if isinstance(plain, dict):
        return {name: _sort_lists(value) for name, value in plain.items()}
    return plain
