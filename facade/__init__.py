"""Governed capabilities that run durably on Temporal.

The names that applications use. In workflow code import `Invoker` from ``temperance.workflows``; on
workers and clients take `TemperancePlugin` and `TemperanceClient`, loaded when first used, because
this module is also imported inside the workflow sandbox.
"""

from typing import TYPE_CHECKING

from temperance.runtime.actor import ANONYMOUS, Actor
from temperance.runtime.app import App
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
from temperance.runtime.registry import CapabilityRegistry
from temperance.runtime.request import Request
from temperance.runtime.retry import Retry
from temperance.runtime.runtime import Runtime
from temperance.runtime.sink import JsonlSink, MemorySink, Sink

if TYPE_CHECKING:
    from temperance.activities.structlog_sink import StructlogSink
    from temperance.client import TemperanceClient
    from temperance.plugin import TemperancePlugin

__all__ = [
    "ANONYMOUS",
    "Actor",
    "App",
    "Approval",
    "ApprovalRequired",
    "Cancelled",
    "Capability",
    "CapabilityError",
    "CapabilityRegistry",
    "Completed",
    "ConfigurationError",
    "Context",
    "Decision",
    "DeclaredError",
    "ErrorInfo",
    "Event",
    "ExecutionResult",
    "Failed",
    "Governance",
    "JsonlSink",
    "MemorySink",
    "Middleware",
    "Policy",
    "Proceed",
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
    "allow",
    "capability",
    "deny",
    "hide",
    "policy",
    "require_approval",
]

_LAZY = {
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
