"""The application as a driver needs it: the governed surface, its context, its audit."""

import inspect
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from types import ModuleType
from typing import Any, Final

from .actor import Actor
from .approval import ApprovalRecord
from .error import ConfigurationError
from .governance import Governance
from .request import Request
from .sink import Sink

# Requests of all capabilities, and an application context of any type.
ContextFactory = Callable[[Request[Any, Any]], AbstractAsyncContextManager[Any]]
"""Makes the application context of one attempt; closed on every path."""

PAYLOAD_LIMIT: Final = 2 * 1024 * 1024 - 16 * 1024
"""The server refuses a payload over 2 MiB; the rest is left for its envelope (DESIGN section 6)."""


def no_context(request: Request[Any, Any]) -> AbstractAsyncContextManager[None]:
    """The context of an application that needs none: handlers find ``None`` in ``ctx.app``."""
    del request
    return nullcontext()


@dataclass(frozen=True)
class App:
    """What a worker serves and `Runtime` runs: the governed surface and what it needs.

    Args:
        governance: Capabilities, policies and middleware.
        context: Factory of the application context, called once per attempt.
        sinks: Where audit events go; ``None`` takes the driver's default (structlog on a worker,
            none in process).
        strict_audit: Whether ``capability.started`` must be recorded before the handler runs;
            where it cannot be, the attempt ends with AUDIT_UNAVAILABLE.
        sink_timeout: Longest wait for an ``async`` sink, per event.
        workflows: Workflow classes that a worker of this application serves too.
        modules: Modules all of whose capabilities must be in the registry: a worker refuses to
            start where one of theirs was forgotten.
        task_queue: Task queue of workers and clients that are not given another.
        may_approve: Decides who may approve what, beside the rule against self-approval: given the
            approver and the record, plain and without I/O, because it runs in workflow code.
            Without
            it every well-formed approver may.
        reject_self_approval: Whether the requester is refused as approver of its own request.
        self_approval_reason: Why it is not, where it is not; shown by ``temperance inspect``.
        payload_limit: Largest input or output on Temporal, in bytes of JSON. Raise it only where a
            codec or external storage keeps what reaches the server under 2 MiB.

    Raises:
        ConfigurationError: Lists every value that is out of its bounds.
    """

    governance: Governance
    context: ContextFactory = field(default=no_context, repr=False)
    sinks: Sequence[Sink] | None = field(default=None, repr=False)
    strict_audit: bool = False
    sink_timeout: timedelta = timedelta(seconds=1)
    payload_limit: int = PAYLOAD_LIMIT
    workflows: Sequence[type] = ()
    modules: Sequence[ModuleType] = ()
    task_queue: str = "temperance"
    may_approve: Callable[[Actor, ApprovalRecord], bool] | None = field(default=None, repr=False)
    reject_self_approval: bool = True
    self_approval_reason: str | None = None

    def __post_init__(self) -> None:
        problems: list[str] = []
        # The annotations promise it, but not every application is type checked.
        governance: object = self.governance
        context: object = self.context
        if not isinstance(governance, Governance):
            problems.append("App.governance: give a Governance(registry, policies=[...])")
        if not callable(context):
            problems.append(
                "App.context: give a function of the request that returns a context manager"
            )
        for sink in self.sinks or ():
            if not callable(getattr(sink, "record", None)):
                problems.append(f"App.sinks: {type(sink).__name__} has no record(event) method")
        if self.sink_timeout <= timedelta(0):
            problems.append(f"App.sink_timeout is {self.sink_timeout}: give more than zero")
        if self.payload_limit < 1024:
            problems.append(f"App.payload_limit is {self.payload_limit}: give at least 1024 bytes")
        # It decides in workflow code, where nothing can be awaited.
        rule: object = self.may_approve
        if rule is not None and (not callable(rule) or inspect.iscoroutinefunction(rule)):
            problems.append("App.may_approve: give a plain function of approver and record")
        if not self.reject_self_approval and not (self.self_approval_reason or "").strip():
            problems.append("App.reject_self_approval is False: say why in self_approval_reason")
        if problems:
            raise ConfigurationError(problems)
