"""What an application governs, and what its metadata comes to: `temperance inspect`."""

from collections.abc import Callable, Iterable
from typing import Any, TypedDict

from temperance.runtime.app import App
from temperance.runtime.capability import Capability
from temperance.runtime.descriptor import tool_name_of
from temperance.runtime.names import SURFACES
from temperance.runtime.policy import PHASES
from temperance.workflows.options import derive_options


class RetrySeen(TypedDict):
    """The derived retry policy; durations in seconds."""

    maximum_attempts: int
    initial_interval: float
    backoff_coefficient: float
    maximum_interval: float


class TimeoutsSeen(TypedDict):
    """The timeouts of an execution, in seconds; ``None`` is without limit."""

    attempt: float
    start_to_close: float
    heartbeat: float | None
    schedule_to_start: float | None


class ApprovalSeen(TypedDict):
    """Whether a person must approve, as declared; policies may ask for it besides."""

    required: bool
    type: str | None
    reason: str | None
    expires_in: float


class ReconcileSeen(TypedDict):
    """How it is found out what became of a write whose outcome is unknown."""

    function: str
    maximum_attempts: int
    timeout: float
    run_again: bool


class CapabilitySeen(TypedDict):
    """One capability: its metadata, and what follows from it."""

    id: str
    tool_name: str
    description: str
    side_effect: str
    risk: str
    expose: list[str]
    idempotent: bool
    retry: RetrySeen
    timeouts: TimeoutsSeen
    approval: ApprovalSeen | None
    policies: dict[str, list[str]]
    tags: list[str]
    placement: str
    reconcile: ReconcileSeen | None
    declared_in: str


class DecidingSeen(TypedDict):
    """Who may decide approvals, beside what each capability says."""

    may_approve: str | None
    reject_self_approval: bool
    self_approval_reason: str | None


class AppSeen(TypedDict):
    """An application."""

    task_queue: str
    workflows: list[str]
    strict_audit: bool
    payload_limit: int
    deciding: DecidingSeen
    capabilities: list[CapabilitySeen]


def inspect_app(app: App) -> AppSeen:
    """Describes an application: the same value for the same application, in every process.

    Args:
        app: The application.

    Returns:
        JSON-like data; capabilities by id, sets sorted.
    """
    return AppSeen(
        task_queue=app.task_queue,
        workflows=[f"{entry.__module__}.{entry.__qualname__}" for entry in app.workflows],
        strict_audit=app.strict_audit,
        payload_limit=app.payload_limit,
        deciding=DecidingSeen(
            may_approve=None if app.may_approve is None else _name_of(app.may_approve),
            reject_self_approval=app.reject_self_approval,
            self_approval_reason=app.self_approval_reason,
        ),
        capabilities=[
            _capability(app, entry)
            for entry in sorted(app.governance.registry, key=lambda entry: entry.id)
        ],
    )


# A capability of any input and output.
def _capability(app: App, entry: Capability[Any, Any]) -> CapabilitySeen:
    options = derive_options(entry, app)
    retry = options["retry_policy"]
    heartbeat = options.get("heartbeat_timeout")
    approval = entry.approval
    return CapabilitySeen(
        id=entry.id,
        tool_name=tool_name_of(entry),
        description=entry.description,
        side_effect=entry.side_effect,
        risk=entry.risk,
        expose=[surface for surface in SURFACES if surface in entry.expose],
        idempotent=entry.idempotent,
        retry=RetrySeen(
            maximum_attempts=retry.maximum_attempts,
            initial_interval=retry.initial_interval.total_seconds(),
            backoff_coefficient=retry.backoff_coefficient,
            maximum_interval=(retry.maximum_interval or retry.initial_interval).total_seconds(),
        ),
        timeouts=TimeoutsSeen(
            attempt=entry.timeout.total_seconds(),
            start_to_close=options["start_to_close_timeout"].total_seconds(),
            heartbeat=None if heartbeat is None else heartbeat.total_seconds(),
            schedule_to_start=(
                None if entry.queue_timeout is None else entry.queue_timeout.total_seconds()
            ),
        ),
        approval=None
        if approval is None
        else ApprovalSeen(
            required=approval.required,
            type=approval.type,
            reason=approval.reason,
            expires_in=approval.expires_in.total_seconds(),
        ),
        policies={
            phase: _names(policy.name for policy in app.governance.policies_for(entry, phase))
            for phase in PHASES
        },
        tags=sorted(entry.tags),
        placement=entry.placement,
        reconcile=None
        if entry.reconcile is None
        else ReconcileSeen(
            function=_name_of(entry.reconcile.function),
            maximum_attempts=1 + entry.reconcile.retry.max_retries,
            timeout=entry.reconcile.timeout.total_seconds(),
            run_again=entry.reconcile.run_again,
        ),
        declared_in=entry.declared_in,
    )


def _name_of(hook: Callable[..., object]) -> str:
    """A function's name, or that of the class of anything else that is called."""
    named = hook if hasattr(hook, "__qualname__") else type(hook)
    return f"{named.__module__}.{named.__qualname__}"


def _names(names: Iterable[str]) -> list[str]:
    # In their own order: it is the order in which they are asked.
    return list(names)
