"""What is wrong with a handler: its parameters, and the types of its input and output."""

import inspect
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final, TypeGuard, get_args, get_origin, get_type_hints

from .capability import Capability
from .context import Context
from .schema import Mode, Schema

_POSITIONAL: Final = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)
_MISSING: Final = object()


def problems_of_signature(handler: object, what: str = "handler") -> Iterator[str]:
    """Yields what keeps a handler from being called with an input and a context.

    Args:
        handler: The function.
        what: What it is called in the message: a ``reconcile`` is called in the same way.
    """
    if not _is_function(handler):
        yield f"its {what} is not a function: give a def or an async def"
        return
    if _is_generator(handler):
        yield f"its {what} is a generator: return the answer instead of yielding it"
    positional = _positional(handler)
    if not 1 <= len(positional) <= 2:
        yield (
            f"its {what} takes {len(positional)} positional parameters: "
            "take the input, and a Context if it needs one"
        )
    for entry in inspect.signature(handler).parameters.values():
        if entry.kind is entry.KEYWORD_ONLY and entry.default is entry.empty:
            yield f"its {what} requires the keyword {entry.name}, which nobody gives: leave it out"


def problems_of_types(capability: Capability[Any, Any]) -> Iterator[str]:
    """Yields what is wrong with the annotations of a handler, and with the types they name.

    Where nothing is wrong, the schemas of input and output have been built and are kept by the
    capability, so that no later use of them can fail.
    """
    handler: object = capability.handler
    if not _is_function(handler):
        return
    positional = _positional(handler)
    try:
        hints = get_type_hints(handler, include_extras=True)
    except Exception as error:  # noqa: BLE001 - an annotation is code, and may raise anything
        yield (
            f"the annotations of its handler cannot be resolved ({type(error).__name__}: {error}): "
            "define and import the types at module level, outside of TYPE_CHECKING"
        )
        return
    if positional:
        yield from _problems_of_type(capability, "input", hints.get(positional[0], _MISSING))
    yield from _problems_of_type(capability, "output", hints.get("return", _MISSING))
    for name in positional[1:2]:
        hint = hints.get(name, _MISSING)
        if hint is not Any and hint is not Context and get_origin(hint) is not Context:
            yield f"the second parameter of its handler, {name}, is no Context: annotate it as one"


def _is_function(handler: object) -> TypeGuard[Callable[..., object]]:
    return inspect.isfunction(handler) or inspect.ismethod(handler)


def _is_generator(handler: object) -> bool:
    return inspect.isgeneratorfunction(handler) or inspect.isasyncgenfunction(handler)


def _positional(handler: Callable[..., object]) -> list[str]:
    parameters = inspect.signature(handler).parameters.values()
    return [entry.name for entry in parameters if entry.kind in _POSITIONAL]


def _problems_of_type(capability: Capability[Any, Any], what: str, hint: object) -> Iterator[str]:
    if hint is _MISSING:
        yield f"its handler has no annotation for the {what}: annotate it"
        return
    origin: object = get_origin(hint) or hint
    if isinstance(origin, type) and issubclass(origin, Awaitable):
        yield f"its {what} is an awaitable: declare the handler async def, returning the output"
        return
    try:
        schema = capability.input_schema if what == "input" else capability.output_schema
        for mode in get_args(Mode):
            schema.json_schema(mode)
    except Exception as error:  # noqa: BLE001 - a model's own hooks run here, and may raise anything
        name = getattr(hint, "__qualname__", None) or str(hint)
        reason = str(error).strip().split("\n", 1)[0].split(". ", 1)[0]
        yield f"its {what} type {name} is not serializable by pydantic ({reason}): give a model"
    else:
        yield from _problems_of_what_is_left_out(schema, what)


def _problems_of_what_is_left_out(schema: Schema[Any], what: str) -> Iterator[str]:
    if schema.traits.masked:
        # Asterisks would arrive in its place, and the hash would bind these (G3).
        yield (
            f"its {what} holds a secret of pydantic's, which is written as asterisks: "
            "give a str, and redact it where it must not be seen"
        )
    for name, has_default in schema.traits.excluded:
        if what == "input":
            # The hash could not bind what is not written (G3), and it would not arrive either.
            yield f"its input excludes the field {name}: it would not travel, so keep it in"
        elif not has_default:
            yield f"its output excludes the field {name}, which has no default: give it one"
