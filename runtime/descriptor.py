"""A capability as models and tool protocols are shown it."""

import re
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, JsonValue

from .capability import Capability
from .names import Placement, Risk, SideEffect

TOOL_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""What model providers take for the name of a tool."""


class ToolDescriptor(BaseModel):
    """What is known of a capability without running it; carries nothing of its handler.

    Args:
        id: Capability id.
        tool_name: Its name as a tool, unique in its registry.
        description: What it does.
        side_effect: What it does to the world.
        risk: How much harm a wrong execution can do.
        idempotent: The declared claim that repeating it under one key is safe.
        reconciles: Whether an outcome that is unknown is found out by itself.
        requires_approval: Whether its metadata demands an approval; policies may demand one of
            their own.
        tags: Its groups, sorted.
        timeout_seconds: Bound of one attempt.
        placement: Where a workflow runs it.
        input_schema: JSON schema of what to send.
        output_schema: JSON schema of what comes back.
    """

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    id: str
    tool_name: str
    description: str
    side_effect: SideEffect
    risk: Risk
    idempotent: bool
    reconciles: bool
    requires_approval: bool
    tags: tuple[str, ...]
    timeout_seconds: float
    placement: Placement
    input_schema: dict[str, JsonValue]
    output_schema: dict[str, JsonValue]


def tool_name_of(capability: Capability[Any, Any]) -> str:
    """The declared tool name, or the id with ``_`` for each dot: ``orders_refund``."""
    return capability.tool_name or capability.id.replace(".", "_")


def descriptor_of(capability: Capability[Any, Any]) -> ToolDescriptor:
    """Describes a capability that a registry has checked."""
    return ToolDescriptor(
        id=capability.id,
        tool_name=tool_name_of(capability),
        description=capability.description,
        side_effect=capability.side_effect,
        risk=capability.risk,
        idempotent=capability.idempotent,
        reconciles=capability.reconcile is not None,
        requires_approval=capability.approval is not None and capability.approval.required,
        tags=tuple(sorted(capability.tags)),
        timeout_seconds=capability.timeout.total_seconds(),
        placement=capability.placement,
        input_schema=capability.input_schema.json_schema("validation"),
        output_schema=capability.output_schema.json_schema("serialization"),
    )
