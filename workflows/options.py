"""Activity options derived from a capability's metadata (G2, G7, DESIGN section 6)."""

from datetime import timedelta
from typing import Any, Final, Required, TypedDict

from temporalio.common import RetryPolicy

from ..runtime.app import App
from ..runtime.capability import Capability
from ..runtime.margin import margin_after, time_beside, time_to_record
from ..runtime.names import WRITE_LIKE
from ..runtime.reconcile import Reconcile
from ..runtime.retry import COEFFICIENT, RetryPlan

HEARTBEAT_TIMEOUT: Final = timedelta(seconds=10)
CONSULTING: Final = timedelta(seconds=10)
"""What a write may take to read the histories of earlier runs before it begins (G11)."""


class ActivityTimeouts(TypedDict, total=False):
    """The options that workflows and clients derive alike."""

    start_to_close_timeout: Required[timedelta]
    schedule_to_start_timeout: timedelta
    heartbeat_timeout: timedelta
    retry_policy: Required[RetryPolicy]


# Derived for capabilities of any input and output.
def derive_options(
    capability: Capability[Any, Any], app: App | None = None, *, rerun: bool = False
) -> ActivityTimeouts:
    """The options under which a capability's activity is scheduled.

    Args:
        capability: The capability.
        app: The application whose policies and sinks the attempt waits for.
        rerun: Whether the run follows others: after a reset, or a workflow-level retry.

    Returns:
        A fresh mapping. The attempt enforces its own timeout; ``start_to_close`` is that plus what
        the attempt may wait for beside its handler, plus a margin: the backstop for a worker that
        died. Attempts that may outlast the heartbeat timeout have one, so that a dead worker is
        noticed before.
    """
    backstop = capability.timeout + margin_after(capability.timeout)
    if app is not None:
        backstop += time_beside(app, capability)
    if rerun and capability.side_effect in WRITE_LIKE and not capability.idempotent:
        backstop += CONSULTING
    options: ActivityTimeouts = {
        "start_to_close_timeout": backstop,
        "retry_policy": retry_policy_of(capability.plan),
    }
    if backstop > HEARTBEAT_TIMEOUT:
        options["heartbeat_timeout"] = HEARTBEAT_TIMEOUT
    if capability.queue_timeout is not None:
        options["schedule_to_start_timeout"] = capability.queue_timeout
    return options


# Of any input and output.
def derive_reconcile_options(reconcile: Reconcile[Any, Any], app: App) -> ActivityTimeouts:
    """The options under which a capability's `reconcile` is asked; a fresh mapping.

    Args:
        reconcile: What the capability declares.
        app: The application in whose sinks the answer is recorded.
    """
    plan = RetryPlan(1 + reconcile.retry.max_retries, reconcile.retry)
    backstop = reconcile.timeout + margin_after(reconcile.timeout) + time_to_record(app)
    return {
        "start_to_close_timeout": backstop,
        "retry_policy": retry_policy_of(plan),
    }


# Requests of any capability and actor.
def reconcile_summary_of(capability: Capability[Any, Any], actor: object) -> str:
    """The line that the UI shows beside the question what became of a write."""
    return f"what became of it? {summary_of(capability, actor)}"[:200]


def retry_policy_of(plan: RetryPlan) -> RetryPolicy:
    """A plan in Temporal's terms."""
    return RetryPolicy(
        initial_interval=plan.initial_interval,
        backoff_coefficient=COEFFICIENT,
        maximum_interval=plan.maximum_interval,
        maximum_attempts=plan.maximum_attempts,
    )


class Options:
    """Derives the options of each capability of an application once, for all its workflow runs.

    Args:
        app: The application.
    """

    __slots__ = ("_app", "_kept")

    def __init__(self, app: App) -> None:
        self._app = app
        self._kept: dict[tuple[Capability[Any, Any], bool], ActivityTimeouts] = {}

    def of(self, capability: Capability[Any, Any], *, rerun: bool) -> ActivityTimeouts:
        """See `derive_options`; not a fresh mapping, so do not change it."""
        options = self._kept.get((capability, rerun))
        if options is None:
            options = derive_options(capability, self._app, rerun=rerun)
            if capability in self._app.governance.registry:  # and no other: they would pile up
                self._kept[capability, rerun] = options
        return options


# Requests of any capability and actor.
def summary_of(capability: Capability[Any, Any], actor: object) -> str:
    """The line that the UI shows beside the activity; never a payload (DESIGN section 10)."""
    return f"{capability.side_effect}/{capability.risk} by {actor}"[:200]
