"""The approvals that a workflow run has asked for, and what identical requests join (G3)."""

import asyncio
from dataclasses import dataclass, field

from ..runtime.actor import Actor
from ..runtime.approval import ApprovalRecord
from ..runtime.envelope import ExecutionResult

RequestKey = tuple[str, str, str]
"""Capability, actor and input hash: what makes two requests join one approval."""


def key_of(capability: str, actor: Actor, input_hash: str) -> RequestKey:
    """What an approval in a run is found by."""
    return (capability, str(actor), input_hash)


@dataclass(slots=True)
class Pending:
    """An approval that was asked for in this run.

    Args:
        record: What is to be decided.
        begun: Done once the server has the approval.
        outcome: The envelope it comes to.
        waiting: How many callers wait for it.
    """

    record: ApprovalRecord
    begun: "asyncio.Task[object]"
    outcome: "asyncio.Task[ExecutionResult[object]]"
    waiting: int = 0


@dataclass(slots=True)
class Approvals:
    """The approvals of a run, by what was asked and by id."""

    by_request: dict[RequestKey, Pending] = field(default_factory=dict[RequestKey, Pending])
    by_id: dict[str, Pending] = field(default_factory=dict[str, Pending])

    def open(self, key: RequestKey) -> Pending | None:
        """The approval of an identical request that has not come to its outcome yet."""
        found = self.by_request.get(key)
        return None if found is None or found.outcome.done() else found

    def add(self, key: RequestKey, pending: Pending) -> None:
        """Keeps an approval."""
        self.by_request[key] = pending
        self.by_id[pending.record.id] = pending
