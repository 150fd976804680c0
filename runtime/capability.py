"""A capability: a governed operation, declared on an ordinary typed function (DESIGN section 4)."""

import inspect
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Any, Final, Generic, Protocol, TypeVar, get_type_hints, overload

from .actor import MAX_IDENTIFIER
from .context import Context
from .decision import DEFAULT_APPROVAL_EXPIRY
from .middleware import Middleware
from .names import Placement, Risk, SideEffect, Surface
from .policy import Policy, PolicyFunction, as_policy
from .reconcile import Reconcile, ReconcileFunction, as_reconcile
from .retry import Retry, RetryPlan, derive_plan
from .schema import Schema

I = TypeVar("I")  # noqa: E741 - input, as in DESIGN section 4
O = TypeVar("O")  # noqa: E741 - output

DEFAULT_TIMEOUT: Final = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Approval:
    """That a person must approve each execution, as declared by the capability.

    Args:
        required: Whether it must; ``False`` leaves it to the policies.
        type: Who may approve, in the application's own words, for example ``manager``.
        reason: Shown to the approver.
        expires_in: How long a decision may take; 15 minutes unless given.
    """

    required: bool = True
    type: str | None = None
    reason: str | None = None
    expires_in: timedelta = DEFAULT_APPROVAL_EXPIRY


RedactRule = tuple[str, ...] | Callable[[Any], object]  # any model: the capability's own type


@dataclass(frozen=True, slots=True)
class Redact:
    """What never leaves the worker (G10).

    Args:
        output: Dot paths of fields left out of the output, each with a default so that the rest
            still is an output; or a function from the output to one that may be seen.
        approval_input: The same for the input as approvers see it.
    """

    output: RedactRule | None = field(default=None, repr=False)
    approval_input: RedactRule | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class Capability(Generic[I, O]):
    """A governed operation: its id, handler and metadata.

    Made by `capability`; checked when a `CapabilityRegistry` is built of it.
    """

    id: str
    handler: Callable[..., object] = field(repr=False)
    description: str
    expose: frozenset[Surface]
    side_effect: SideEffect
    risk: Risk
    idempotent: bool = False
    retry: Retry | None = None
    timeout: timedelta = DEFAULT_TIMEOUT
    queue_timeout: timedelta | None = None
    approval: Approval | None = None
    redact: Redact = Redact()
    policies: tuple[Policy, ...] = ()
    middleware: tuple[Middleware, ...] = field(default=(), repr=False)
    tags: frozenset[str] = frozenset()
    tool_name: str | None = None
    reconcile: Reconcile[I, O] | None = field(default=None, repr=False)
    placement: Placement = "remote"
    declared_in: str = field(default="", repr=False)

    @cached_property
    def plan(self) -> RetryPlan:
        """The attempts that the metadata comes to (G2)."""
        return derive_plan(self.side_effect, self.idempotent, self.retry)

    @cached_property
    def seconds(self) -> float:
        """The timeout of one attempt, in seconds."""
        return self.timeout.total_seconds()

    @cached_property
    def takes_context(self) -> bool:
        """Whether the handler takes a `Context` after its input."""
        return len(_positional(self.handler)) > 1

    @cached_property
    def is_async(self) -> bool:
        """Whether the handler is ``async def``; a ``def`` handler runs in a thread."""
        return inspect.iscoroutinefunction(self.handler)

    @cached_property
    def input_schema(self) -> Schema[I]:
        """Validator and serializer of the input.

        Raises:
            TypeError: The handler's input has no annotation, or one that cannot be resolved.
        """
        return Schema(self._annotation(_positional(self.handler)[0].name, "input"))

    @cached_property
    def output_schema(self) -> Schema[O]:
        """Validator and serializer of the output, see `input_schema`."""
        return Schema(self._annotation("return", "output"))

    def _annotation(self, name: str, what: str) -> Any:  # the type is the handler's own
        try:
            hints = get_type_hints(self.handler, include_extras=True)
        except NameError as error:
            raise TypeError(
                f"the annotations of its handler cannot be resolved ({error}): "
                "define and import the types at module level, outside of TYPE_CHECKING"
            ) from error
        if name not in hints:
            raise TypeError(f"its handler has no annotation for the {what}: annotate it")
        return hints[name]


class CapabilityDecorator(Protocol):
    """Turns a handler into a typed `Capability`."""

    # The application's context is any type: it is the handler's business, not the caller's.
    @overload
    def __call__(self, handler: Callable[[I, Context[Any]], Awaitable[O]]) -> Capability[I, O]: ...
    @overload
    def __call__(self, handler: Callable[[I], Awaitable[O]]) -> Capability[I, O]: ...
    @overload
    def __call__(self, handler: Callable[[I, Context[Any]], O]) -> Capability[I, O]: ...
    @overload
    def __call__(self, handler: Callable[[I], O]) -> Capability[I, O]: ...


class SettledDecorator(Protocol[I, O]):
    """As `CapabilityDecorator`, for a handler of the types that its `reconcile` has."""

    @overload
    def __call__(self, handler: Callable[[I, Context[Any]], Awaitable[O]]) -> Capability[I, O]: ...
    @overload
    def __call__(self, handler: Callable[[I], Awaitable[O]]) -> Capability[I, O]: ...
    @overload
    def __call__(self, handler: Callable[[I, Context[Any]], O]) -> Capability[I, O]: ...
    @overload
    def __call__(self, handler: Callable[[I], O]) -> Capability[I, O]: ...


@overload
def capability(
    id: str,
    *,
    description: str,
    expose: Iterable[Surface],
    side_effect: SideEffect,
    risk: Risk,
    idempotent: bool = ...,
    retry: Retry | None = ...,
    timeout: timedelta = ...,
    queue_timeout: timedelta | None = ...,
    approval: Approval | None = ...,
    redact: Redact | None = ...,
    policies: Iterable[Policy | PolicyFunction] = ...,
    middleware: Iterable[Middleware] = ...,
    tags: Iterable[str] = ...,
    tool_name: str | None = ...,
    reconcile: None = ...,
    placement: Placement = ...,
) -> CapabilityDecorator: ...


@overload
def capability(
    id: str,
    *,
    description: str,
    expose: Iterable[Surface],
    side_effect: SideEffect,
    risk: Risk,
    idempotent: bool = ...,
    retry: Retry | None = ...,
    timeout: timedelta = ...,
    queue_timeout: timedelta | None = ...,
    approval: Approval | None = ...,
    redact: Redact | None = ...,
    policies: Iterable[Policy | PolicyFunction] = ...,
    middleware: Iterable[Middleware] = ...,
    tags: Iterable[str] = ...,
    tool_name: str | None = ...,
    reconcile: Reconcile[I, O] | ReconcileFunction[I, O],
    placement: Placement = ...,
) -> SettledDecorator[I, O]: ...


def capability(
    id: str,
    *,
    description: str,
    expose: Iterable[Surface],
    side_effect: SideEffect,
    risk: Risk,
    idempotent: bool = False,
    retry: Retry | None = None,
    timeout: timedelta = DEFAULT_TIMEOUT,
    queue_timeout: timedelta | None = None,
    approval: Approval | None = None,
    redact: Redact | None = None,
    policies: Iterable[Policy | PolicyFunction] = (),
    middleware: Iterable[Middleware] = (),
    tags: Iterable[str] = (),
    tool_name: str | None = None,
    # Of any input and output: what the overloads promise.
    reconcile: Reconcile[Any, Any] | ReconcileFunction[Any, Any] | None = None,
    placement: Placement = "remote",
) -> CapabilityDecorator | SettledDecorator[Any, Any]:
    """Declares a function as a governed capability.

    The handler takes its input and, if it wants one, a `Context`; it may be ``async def`` or
    ``def`` (which runs in a thread)::

        @capability(
            "orders.refund",
            description="Refund an order, in full or in part.",
            expose={"agent", "workflow"},
            side_effect="write",
            risk="high",
        )
        async def refund_order(input: RefundInput, ctx: Context[Shop]) -> RefundResult: ...

    Args:
        id: Dot path such as ``orders.refund``; also the Temporal activity type.
        description: What it does, for people and models.
        expose: Surfaces that may ask for it.
        side_effect: ``none``, ``read``, ``write``, ``destructive`` or ``external``.
        risk: ``low``, ``medium``, ``high`` or ``critical``.
        idempotent: The claim that repeating it under one idempotency key is safe.
        retry: Further attempts; for a write-like side effect only together with ``idempotent``.
        timeout: Bound of one attempt; 30 seconds unless given.
        queue_timeout: Longest wait for a worker; without limit unless given.
        approval: That a person must approve.
        redact: What never leaves the worker.
        policies: Policies of this capability, beside those of the `Governance`.
        middleware: Wraps the handler, outermost first.
        tags: Groups of capabilities, for scoping what an agent is shown.
        tool_name: Name as a model's tool; derived from the id unless given.
        reconcile: Finds out what became of a write whose outcome is unknown; see `Reconcile`.
        placement: ``local`` runs a short read inside the asking workflow's own worker.

    Returns:
        A decorator that gives a `Capability`. Nothing is checked here: a `CapabilityRegistry` lists
        all problems of all its capabilities at once.
    """
    surfaces: frozenset[Surface] = _words(expose)
    kept_policies = tuple(as_policy(entry) for entry in policies)
    kept_middleware = tuple(middleware)
    kept_tags: frozenset[str] = _words(tags)
    kept_reconcile = as_reconcile(reconcile)

    def decorate(handler: Callable[..., Any]) -> Capability[Any, Any]:
        return Capability[Any, Any](
            id=id,
            handler=handler,
            description=description,
            expose=surfaces,
            side_effect=side_effect,
            risk=risk,
            idempotent=idempotent,
            retry=retry,
            timeout=timeout,
            queue_timeout=queue_timeout,
            approval=approval,
            redact=redact or Redact(),
            policies=kept_policies,
            middleware=kept_middleware,
            tags=kept_tags,
            tool_name=tool_name,
            reconcile=kept_reconcile,
            placement=placement,
            declared_in=_place_of(handler),
        )

    return decorate


def id_asked_for(asked: object) -> str:
    """The id that a request names, made fit to be written down.

    A model may name anything as its tool. What cannot be an id stays one that nobody has: it is cut
    and cleaned for events and envelopes, and never becomes another one.

    Args:
        asked: A capability, or what was given in its place.

    Returns:
        At most 200 characters that can be written as UTF-8.
    """
    if isinstance(asked, Capability):
        return asked.id
    if not isinstance(asked, str):
        return ""
    return asked[:MAX_IDENTIFIER].encode(errors="replace").decode()


def _words(given: Iterable[Any]) -> frozenset[Any]:
    """A set of words; a single word is one of them, and not its letters."""
    return frozenset((given,)) if isinstance(given, str) else frozenset(given)


def _place_of(handler: object) -> str:
    # What is not a function may have no name; the registry refuses it and needs to say which.
    name = getattr(handler, "__qualname__", None) or type(handler).__qualname__
    return f"{getattr(handler, '__module__', '?')}.{name}"


def _positional(handler: Callable[..., object]) -> list[inspect.Parameter]:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p for p in inspect.signature(handler).parameters.values() if p.kind in kinds]
