"""Models of plain fields: text, numbers, truth values, nothing.

Most inputs and outputs of tools are such. Where each field of a value is of exactly the type that
its model says, its serializer has nothing to warn of, and the value's own dictionary is its plain
form. Both are worth knowing: pydantic reads its option ``warnings="error"`` by way of an exception
of its own, which takes four times as long as writing a small model (measured: 0.8 of 1.05
microseconds).
"""

from typing import Final

from .shape import is_object

_TYPES: Final[dict[object, type]] = {
    "bool": bool,
    "float": float,
    "int": int,
    "none": type(None),
    "str": str,
}
"""Plain types by the name of their core schema."""

_AROUND: Final = frozenset(
    {"default", "function-after", "function-before", "function-wrap", "nullable"}
)
"""Core schema types that leave the writing to the schema inside of them."""

MOST_KEPT: Final = 256
"""How many combinations of types are remembered; each optional field doubles them."""

Fields = dict[str, object]


class Flat:
    """Knows the values of one model that are just what it says.

    Args:
        class_: The model.
        types: For each field in its order, the types that it may have.
    """

    __slots__ = ("_class", "_known", "_names", "_types")

    def __init__(self, class_: type, types: dict[str, frozenset[type]]) -> None:
        self._class = class_
        self._names = tuple(types)
        self._types = tuple(types.values())
        self._known: set[tuple[type, ...]] = set()

    def fields(self, value: object) -> Fields | None:
        """The fields of a value, where each is of exactly a type that the model says.

        Args:
            value: Anything.

        Returns:
            The value's own dictionary, so do not change it; ``None`` where something is unusual,
            and only the serializer can tell what to make of it.
        """
        if type(value) is not self._class:
            return None
        fields: Fields = value.__dict__
        if tuple(fields) != self._names:
            return None
        types = tuple(map(type, fields.values()))
        return fields if types in self._known or self._learns(types) else None

    def _learns(self, types: tuple[type, ...]) -> bool:
        fit = all(kind in fitting for kind, fitting in zip(types, self._types, strict=True))
        if fit and len(self._known) < MOST_KEPT:
            self._known.add(types)
        return fit


def flat_of(core_schema: object) -> Flat | None:
    """What a core schema says, where it is of a model of plain fields; ``None`` elsewhere."""
    model = _inside(core_schema)
    if model is None or model.get("type") != "model" or model.get("root_model"):
        return None
    class_, config, inner = model.get("cls"), model.get("config"), model.get("schema")
    if not isinstance(class_, type) or not is_object(inner) or inner.get("type") != "model-fields":
        return None
    if is_object(config) and (
        config.get("extra_fields_behavior") == "allow" or "ser_json_inf_nan" in config
    ):
        return None
    fields = inner.get("fields")
    if "serialization" in inner or inner.get("extras_schema") or not is_object(fields):
        return None
    types = {name: _types_of(field) for name, field in fields.items()}
    return Flat(class_, types) if types and all(types.values()) else None


def _inside(schema: object) -> dict[str, object] | None:
    """The schema inside of those that write as it does; ``None`` where one writes by itself."""
    while is_object(schema) and "serialization" not in schema:
        if schema.get("type") not in _AROUND - {"nullable"}:
            return schema
        schema = schema.get("schema")
    return None


def _types_of(field: object) -> frozenset[type]:
    """The types that a field may have; none where it is not plain."""
    if not is_object(field) or not {"serialization_exclude", "serialization_exclude_if"}.isdisjoint(
        field
    ):
        return frozenset()
    types: set[type] = set()
    schema = _inside(field.get("schema"))
    while schema is not None and schema.get("type") == "nullable":
        types.add(type(None))
        schema = _inside(schema.get("schema"))
    plain = None if schema is None else _TYPES.get(schema.get("type"))
    return frozenset() if plain is None else frozenset({*types, plain})
