"""Governed capabilities that run durably on Temporal.

The names that applications use. In workflow code import `Invoker` from ``temperance.workflows``; on
workers and clients take `TemperancePlugin`, `TemperanceClient` and `Approvals`, which are loaded
when first used, because this module is also imported inside the workflow sandbox.
"""

from typing import TYPE_CHECKING

from temperance.runtime.actor import ANONYMOUS, Actor
from temperance.runtime.app import App
from temperance.runtime.approval import ApprovalRecord
from temperance.runtime.capability import Approval, Capability, Redact, capability
from temperance.runtime.context import Context
from temperance.runtime.decision import Decision, allow, deny, hide, require_approval
from temperance.runtime.envelope import (
    ApprovalRequired,
    Cancelled,
    Completed,
    ExecutionResult,
    Failed,
)
from temperance.runtime.error import (
    CapabilityError,
    ConfigurationError,
    DeclaredError,
    ErrorInfo,
    RegistryError,
    StepError,
)
from temperance.runtime.event import Event
from temperance.runtime.governance import Governance
from temperance.runtime.middleware import Middleware, Proceed
from temperance.runtime.policy import Policy, policy
from temperance.runtime.reconcile import (
    DidNotHappen,
    Happened,
    Reconcile,
    Unknown,
    did_not_happen,
    happened,
    unknown,
)
from temperance.runtime.registry import CapabilityRegistry
from temperance.runtime.request import Request
from temperance.runtime.retry import Retry
from temperance.runtime.runtime import Runtime
from temperance.runtime.sink import JsonlSink, MemorySink, Sink

if TYPE_CHECKING:
    from temperance.activities.structlog_sink import StructlogSink
    from temperance.approvals import Approvals
    from temperance.client import TemperanceClient
    from temperance.plugin import TemperancePlugin

__all__ = [
    "ANONYMOUS",
    "Actor",
    "App",
    "Approval",
    "ApprovalRecord",
    "ApprovalRequired",
    "Approvals",
    "Cancelled",
    "Capability",
    "CapabilityError",
    "CapabilityRegistry",
    "Completed",
    "ConfigurationError",
    "Context",
    "Decision",
    "DeclaredError",
    "DidNotHappen",
    "ErrorInfo",
    "Event",
    "ExecutionResult",
    "Failed",
    "Governance",
    "Happened",
    "JsonlSink",
    "MemorySink",
    "Middleware",
    "Policy",
    "Proceed",
    "Reconcile",
    "Redact",
    "RegistryError",
    "Request",
    "Retry",
    "Runtime",
    "Sink",
    "StepError",
    "StructlogSink",
    "TemperanceClient",
    "TemperancePlugin",
    "Unknown",
    "allow",
    "capability",
    "deny",
    "did_not_happen",
    "happened",
    "hide",
    "policy",
    "require_approval",
    "unknown",
]

_LAZY = {
    "Approvals": "temperance.approvals",
    "StructlogSink": "temperance.activities.structlog_sink",
    "TemperanceClient": "temperance.client",
    "TemperancePlugin": "temperance.plugin",
}


def __getattr__(name: str) -> object:
    """Loads what needs the Temporal client only when it is used."""
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'temperance' has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(module), name)
    globals()[name] = value
    return value
