"""One kept validator and serializer per input or output type.

Building a pydantic adapter per call costs ten times the validation itself (DESIGN section 12), so a
capability keeps two of these. Values travel by field name, and are accepted by field name and by
alias: whatever aliases a model declares, what one side writes the other side reads.
"""

import builtins
from dataclasses import is_dataclass
from typing import Final, Generic, Literal, TypeVar, get_args

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import core_schema, from_json

from .canonical import canonical_json, is_finite, sort_sets
from .flat import flat_of
from .shape import is_mapping, is_row, is_set
from .traits import traits_of

T = TypeVar("T")

Mode = Literal["validation", "serialization"]

MOST_PROBLEMS: Final = 20
"""How many problems of an invalid input are named; the rest is counted."""

_PLAIN_TEXT: Final = frozenset(get_args(core_schema.ErrorType)) - {
    # The application's own text, which may repeat the value.
    "value_error",
    "assertion_error",
    "get_attribute_error",
    "iteration_error",
    "mapping_type",
    # Texts of pydantic's that repeat the value or a part of it.
    "bytes_invalid_encoding",
    "timezone_offset",
    "union_tag_invalid",
    "url_syntax_violation",
    "uuid_parsing",
}
"""Types of problems whose text comes from the schema alone; an application's own types do not."""


class Schema(Generic[T]):
    """Validates, writes and hashes the values of one type.

    Args:
        type_: Any type that pydantic can validate and serialize.

    Raises:
        pydantic.errors.PydanticUserError: The type has no schema.
    """

    __slots__ = ("_flat", "adapter", "extra", "serializer", "traits", "type", "validator")

    def __init__(self, type_: builtins.type[T]) -> None:
        self.type = type_
        self.adapter: TypeAdapter[T] = TypeAdapter(type_)
        # A model may have put off building its validator: then it would be looked up at each use.
        self.adapter.rebuild(raise_errors=True)
        self.validator = self.adapter.validator
        self.serializer = self.adapter.serializer
        self.traits = traits_of(self.adapter.core_schema)
        self._flat = flat_of(self.adapter.core_schema)
        self.extra: Literal["forbid"] | None = None if self.traits.says_extra else "forbid"

    def from_json(self, data: bytes | str) -> T:
        """Validates JSON from a stranger: a field the type does not have is refused.

        A type in which some model allows or ignores extra fields, in its own configuration, is
        taken at its word.

        Raises:
            pydantic.ValidationError: The JSON does not parse or does not fit the type.
        """
        value: T = self.validator.validate_json(data, extra=self.extra, by_alias=True, by_name=True)
        return value

    def from_python(self, value: object) -> T:
        """Validates a JSON-like Python value as `from_json` does.

        An instance of a model is not looked into: that it was built or changed without validation
        is noticed only when it is written and read again.
        """
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
            ValueError: The value is not of the type (also pydantic's own errors), or holds a number
                that JSON does not have: infinity, not-a-number.
        """
        if self._flat is not None and self._flat.fields(value) is not None:
            data = self.serializer.to_json(value, by_alias=False, round_trip=True)
        elif self.knows(value):
            data = self.serializer.to_json(value, by_alias=False, round_trip=True, warnings="error")
        else:
            # Pydantic would write what fields it finds, and where all have defaults, none.
            raise ValueError("the value is of another class than its type says")
        self._refuse_lost_numbers(value, data)
        return data

    def knows(self, value: object) -> bool:
        """Whether a model or dataclass, or each in a list or mapping, is of a class of the type."""
        classes = self.traits.classes
        return classes is None or type(value) in classes or _all_known(value, classes)

    def canonical(self, value: T) -> bytes:
        """Canonical JSON of a validated value, the same in every process.

        Raises:
            ValueError: The value has no canonical form (not-a-number, infinity).
        """
        fields = None if self._flat is None else self._flat.fields(value)
        if fields is not None:
            return canonical_json(fields)
        plain: object = self.serializer.to_python(
            value, mode="json", by_alias=False, round_trip=True, warnings="error"
        )
        data = canonical_json(sort_sets(value, plain) if self.traits.may_hold_sets else plain)
        self._refuse_lost_numbers(value, data)
        return data

    def both_forms(self, value: T) -> tuple[bytes, bytes]:
        """What `to_json` and `canonical` write, for little more than the price of one.

        Raises:
            ValueError: As they do.
        """
        data = self.to_json(value)
        fields = None if self._flat is None else self._flat.fields(value)
        plain: object = from_json(data) if fields is None else fields
        if self.traits.may_hold_sets:
            plain = sort_sets(value, plain)
        return data, canonical_json(plain)

    def trace(self, value: T) -> bytes | None:
        """What tells later whether a value that has a canonical form was changed, see `unchanged`.

        Returns:
            Its JSON; ``None`` where that does not tell, because it may hold sets.
        """
        if self.traits.may_hold_sets:
            return None
        return self.serializer.to_json(value, by_alias=False, round_trip=True, warnings=False)

    def unchanged(self, value: T, trace: bytes | None) -> bool:
        """Whether a value is certainly what it was; where it is not certain, its hash tells.

        Args:
            value: The value, now.
            trace: What `trace` gave for it before.
        """
        try:
            return trace is not None and self.to_json(value) == trace
        except Exception:  # noqa: BLE001 - what was made of it may not be written at all
            return False

    def same(self, one: bytes, other: bytes) -> bool:
        """Whether two JSON values are the same: as they are written, or as they are understood."""
        if _canonical_text(one) == _canonical_text(other):
            return True
        try:
            return self.canonical(self.from_json(one)) == self.canonical(self.from_json(other))
        except Exception:  # noqa: BLE001 - invalid, or a validator of the application's own
            return False

    def _refuse_lost_numbers(self, value: T, data: bytes) -> None:
        # Pydantic writes such a number as null, and where null is allowed nobody would notice.
        if self.traits.may_lose_numbers and b"null" in data and not is_finite(value):
            raise ValueError("a number that is infinite, or is none, has no JSON form")

    def json_schema(self, mode: Mode, *, by_alias: bool | None = None) -> dict[str, JsonValue]:
        """JSON schema of the type, as tool descriptors carry it.

        Args:
            mode: Of what is accepted (``validation``), or of what is written (``serialization``).
            by_alias: Whether fields go by their aliases; unless given, for what is accepted.
        """
        aliases = mode == "validation" if by_alias is None else by_alias
        return self.adapter.json_schema(by_alias=aliases, mode=mode, schema_generator=_Quiet)


def _canonical_text(data: bytes) -> bytes:
    try:
        return canonical_json(from_json(data, allow_inf_nan=False))
    except (ValueError, RecursionError):
        return data


def _all_known(value: object, classes: tuple[type, ...]) -> bool:
    if isinstance(value, BaseModel) or is_dataclass(value):
        return isinstance(value, classes)
    if is_mapping(value):
        return all(_all_known(item, classes) for item in value.values())
    if is_row(value) or is_set(value):
        return all(_all_known(item, classes) for item in value)
    return True


class _Quiet(GenerateJsonSchema):
    # A default that JSON cannot show is left out of the schema, and is nobody's mistake.
    ignored_warning_kinds: set[JsonSchemaWarningKind] = {"non-serializable-default"}  # noqa: RUF012 - pydantic declares it so


def problems_of(error: ValidationError, names: frozenset[str] | None = None) -> list[JsonValue]:
    """What was wrong with an input or output: paths and reasons, never values (G10).

    Args:
        error: What pydantic raised.
        names: The words that a path may have; any other is given as ``*``. For an output, whose
            mappings may have keys that nobody is to see. ``None`` for an input: what is in it the
            caller has sent.

    Returns:
        At most 20 objects with ``path``, ``type`` and ``message``; a last one counts the rest. A
        path is of field names, and of the keys of mappings.
    """
    found = error.errors(include_url=False, include_context=False, include_input=False)
    shown: list[JsonValue] = []
    for problem in found[:MOST_PROBLEMS]:
        kind = problem["type"]
        text = problem["msg"] if kind in _PLAIN_TEXT else "The value is not valid"
        shown.append({"path": _path(problem["loc"], names), "type": kind, "message": text})
    if len(found) > MOST_PROBLEMS:
        rest = len(found) - MOST_PROBLEMS
        shown.append({"path": "", "type": "more", "message": f"{rest} more problems"})
    return shown


def _path(loc: tuple[int | str, ...], names: frozenset[str] | None) -> str:
    hidden = ("*" if names is not None and _is_hidden(part, names) else part for part in loc[:16])
    return ".".join(str(part)[:64] for part in hidden)


def _is_hidden(part: int | str, names: frozenset[str]) -> bool:
    return isinstance(part, str) and part not in names
