"""The capabilities of an application, checked before anything runs (DESIGN section 4)."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeGuard, final

from .capability import Capability
from .descriptor import TOOL_NAME, ToolDescriptor, descriptor_of, tool_name_of
from .error import RegistryError
from .metadata import problems_of_metadata
from .redaction import problems_of_redaction
from .shape import is_iterable
from .signature import problems_of_signature, problems_of_types


@final
class CapabilityRegistry:
    """Checked capabilities by id, in the order given; it cannot be changed.

    Building it also builds and keeps every schema, so that no later use of one can fail.

    Args:
        capabilities: One or more lists, for example one for each module of the application.

    Raises:
        RegistryError: Lists every problem of every capability: which one, what, and what to do.
    """

    __slots__ = ("_by_id", "_descriptors")

    _by_id: Mapping[str, Capability[Any, Any]]
    _descriptors: Mapping[str, ToolDescriptor]

    def __init__(self, *capabilities: Iterable[Capability[Any, Any]]) -> None:
        entries, problems = _gather(capabilities)
        for entry in dict.fromkeys(entries):
            problems += [f"{_label(entry)}: {line}" for line in _problems_of(entry)]
        problems += _duplicates(entries)
        problems += _colliding_tool_names(entries)
        if problems:
            raise RegistryError(problems)
        self._by_id = MappingProxyType({entry.id: entry for entry in entries})
        self._descriptors = MappingProxyType({entry.id: descriptor_of(entry) for entry in entries})

    def get(self, id: str) -> Capability[Any, Any] | None:
        """The capability of that id, or ``None``."""
        return self._by_id.get(id)

    def descriptor(self, id: str) -> ToolDescriptor:
        """The kept descriptor of a capability; its schemas are shared, so copy before changing.

        Raises:
            KeyError: There is no such capability.
        """
        return self._descriptors[id]

    def __iter__(self) -> Iterator[Capability[Any, Any]]:
        return iter(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, entry: object) -> bool:
        """Whether the id, or this very capability, is registered."""
        if isinstance(entry, Capability):
            return self._by_id.get(entry.id) is entry
        return isinstance(entry, str) and entry in self._by_id

    def __repr__(self) -> str:
        return f"CapabilityRegistry({', '.join(self._by_id)})"


def _gather(
    groups: tuple[Iterable[object], ...],
) -> tuple[list[Capability[Any, Any]], list[str]]:
    entries: list[Capability[Any, Any]] = []
    problems: list[str] = []
    for group in groups:
        for entry in _members(group):
            if _is_capability(entry):
                entries.append(entry)
            else:
                problems.append(f"{_named(entry)}: is not a capability: forgot @capability?")
    return entries, problems


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_capability(entry: object) -> TypeGuard[Capability[Any, Any]]:
    return isinstance(entry, Capability)


def _members(group: object) -> Iterable[object]:
    # One capability or module, where a list was meant, has no members to look at.
    return group if is_iterable(group) else [group]


def _problems_of(entry: Capability[Any, Any]) -> Iterator[str]:
    yield from problems_of_metadata(entry)
    yield from _problems_of_tool_name(entry)
    yield from problems_of_signature(entry.handler)
    yield from problems_of_redaction(entry)
    yield from problems_of_types(entry)


def _problems_of_tool_name(entry: Capability[Any, Any]) -> Iterator[str]:
    given: object = entry.tool_name
    if given is None:
        if len(str(entry.id)) > 64:
            yield "id is too long to be a tool name: give a tool_name of at most 64 characters"
    elif not isinstance(given, str) or not TOOL_NAME.fullmatch(given):
        yield f"tool_name is {given!r}: give 1 to 64 letters, digits, _ and -"


def _duplicates(entries: list[Capability[Any, Any]]) -> Iterator[str]:
    for id_, group in _grouped((str(entry.id), entry) for entry in entries):
        if len(set(map(id, group))) == 1:
            yield f"{_label(group[0])}: is listed {len(group)} times: list it once"
        else:
            where = ", ".join(entry.declared_in for entry in group)
            yield f"{id_}: is the id of {len(group)} capabilities ({where}): rename all but one"


def _colliding_tool_names(entries: list[Capability[Any, Any]]) -> Iterator[str]:
    # Ids of another type are refused on their own, and one id has its name only once.
    different = {entry.id: entry for entry in entries if _is_text(entry.id)}.values()
    for name, group in _grouped((str(tool_name_of(entry)), entry) for entry in different):
        who = ", ".join(_label(entry) for entry in group)
        yield f"{who}: have the tool name {name} in common: give one of them another tool_name"


def _grouped(
    pairs: Iterable[tuple[str, Capability[Any, Any]]],
) -> Iterator[tuple[str, list[Capability[Any, Any]]]]:
    """Groups by key, and gives the groups that have more than one member."""
    groups: dict[str, list[Capability[Any, Any]]] = {}
    for key, entry in pairs:
        groups.setdefault(key, []).append(entry)
    return ((key, group) for key, group in groups.items() if len(group) > 1)


def _label(entry: Capability[Any, Any]) -> str:
    id_ = entry.id or "(no id)"
    return f"{id_} ({entry.declared_in})" if entry.declared_in else str(id_)


def _named(entry: object) -> str:
    name = getattr(entry, "__qualname__", None)
    return f"{getattr(entry, '__module__', '')}.{name}".lstrip(".") if name else repr(entry)[:80]
