"""How long an attempt may take beside its handler (G7, DESIGN sections 6 and 8).

The attempt enforces its own timeout, and the server stands behind it for a worker that died. The
server's must be later than anything the attempt waits for itself, else a slow policy or a sink that
hangs would have the server close an attempt whose handler is yet to be entered.
"""

import inspect
from datetime import timedelta
from functools import partial
from typing import Any, Final

from .app import App
from .capability import Capability
from .policy import PHASES

LEAST: Final = timedelta(seconds=1)
MOST: Final = timedelta(seconds=10)

EVENTS: Final = 3
"""Most events that one attempt records: its beginning, ``capability.started`` and its end."""


def margin_after(timeout: timedelta) -> timedelta:
    """How long an attempt may take to end after its deadline, before the server ends it.

    Args:
        timeout: The capability's.

    Returns:
        Half of it, between one second and ten.
    """
    return min(max(timeout / 2, LEAST), MOST)


def patience_after(timeout: timedelta) -> timedelta:
    """How long a handler that was told to stop may take before it is told again.

    Less than `margin_after`, so that what holds it up (the closing of a database, for example) ends
    while the outcome of the attempt still counts.
    """
    return margin_after(timeout) * 0.8


# A capability of any input and output.
def time_beside(app: App, capability: Capability[Any, Any]) -> timedelta:
    """How long the policies and sinks of one attempt may take, all told.

    Args:
        app: Whose policies and sinks.
        capability: What is asked for.

    Returns:
        The bounds of those that can wait, added up; zero where there are only plain functions.
    """
    governance = app.governance
    if capability.id not in governance.registry:
        return timedelta(0)
    policies = sum(
        _may_wait(entry.function)
        for phase in PHASES
        for entry in governance.policies_for(capability, phase)
    )
    return policies * governance.policy_timeout + EVENTS * time_to_record(app)


def time_to_record(app: App) -> timedelta:
    """How long the sinks of an application may take for one event, all told."""
    return sum(_may_wait(sink.record) for sink in app.sinks or ()) * app.sink_timeout


def _may_wait(function: object) -> bool:
    while isinstance(function, partial):
        function = function.func
    call = getattr(function, "__call__", None)  # noqa: B004 - the method of an object, if it is one
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)
