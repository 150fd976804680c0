"""Every name that travels: on the wire, in history, in search attributes, in event streams.

A name here never changes its meaning and is never used twice: histories written by one release are
replayed and read by the next (DESIGN sections 7, 9 and 10; STYLE, "wire names live in one module").
"""

from typing import Final, Literal

Surface = Literal["direct", "workflow", "agent", "mcp", "test"]
"""The door through which a request came (DESIGN section 1)."""

SideEffect = Literal["none", "read", "write", "destructive", "external"]
"""What a capability does to the world."""

Risk = Literal["low", "medium", "high", "critical"]
"""How much harm a wrong execution can do, in the words of whoever owns the capability."""

Effect = Literal["none", "possible", "done"]
"""What an envelope says of the world: never entered, entered with unknown outcome, returned."""

Verdict = Literal["happened", "did_not_happen", "unknown"]
"""What was found out about a write whose outcome was unknown."""

EventType = Literal[
    "capabilities.discovered",
    "capability.requested",
    "capability.denied",
    "capability.approval_requested",
    "capability.approved",
    "capability.rejected",
    "capability.approval_expired",
    "capability.approval_cancelled",
    "capability.approval_consumed",
    "capability.approval_joined",
    "capability.started",
    "capability.retried",
    "capability.completed",
    "capability.failed",
    "capability.cancelled",
    "capability.reconciled",
]
"""The types of audit events (DESIGN section 9)."""

Placement = Literal["remote", "local"]
"""Where a workflow runs a capability: as an activity of the server's, or inside its own worker."""

SURFACES: Final[tuple[Surface, ...]] = ("direct", "workflow", "agent", "mcp", "test")
SIDE_EFFECTS: Final[tuple[SideEffect, ...]] = ("none", "read", "write", "destructive", "external")
RISKS: Final[tuple[Risk, ...]] = ("low", "medium", "high", "critical")
PLACEMENTS: Final[tuple[Placement, ...]] = ("remote", "local")
WRITE_LIKE: Final[frozenset[SideEffect]] = frozenset({"write", "destructive", "external"})

RECORD_ACTIVITY: Final = "temperance.record"
"""Local activity that records an outcome which only the workflow could see."""

RECORD_APPROVAL_ACTIVITY: Final = "temperance.record_approval"
"""Activity that records what became of an approval."""

ATTACH_ACTIVITY: Final = "temperance.attach"
"""Activity that waits for the outcome of an approval that was started before (after a reset)."""

APPROVAL_STEP: Final = "execute"
"""Step id of an approval's one execution."""

DECIDE_UPDATE: Final = "decide"
CANCEL_UPDATE: Final = "cancel"
RECORD_QUERY: Final = "record"

APPROVAL_WORKFLOW: Final = "temperance.Approval"
"""Workflow type of one approval."""

APPROVAL_MEMO: Final = "temperance"
"""The memo field by which approvals are listed, and recognized, without asking each of them."""

SEARCH_ATTRIBUTES: Final[dict[str, str]] = {
    "TemperanceCapability": "Keyword",
    "TemperanceApproval": "Keyword",
    "TemperanceActor": "Keyword",
    "TemperanceRisk": "Keyword",
}
"""Search attribute names and their types, as the server's registration call spells them."""

WORKER_SHUTDOWN: Final = "WorkerShutdown"
"""Failure type of an attempt that ended because its worker shut down (DESIGN section 6)."""

TOLD: Final = "temperance-told"
"""Key in the metadata of a request context: what the attempts before a local one came to. It is not
an argument of its own: the SDK ignores the types of all where there are more than are sent."""

PUT_OFF: Final = "WorkerStopping"
"""Failure type of a local activity that its worker, which is shutting down, did not begin."""

LOCAL_PATCH: Final = "temperance-local:"
"""Begins the patch id by which a history says that a run has a capability run locally; the
capability id follows."""

UNKNOWN_ACTIVITY: Final = "NotFoundError"
"""Failure type that the SDK gives for an activity type which a worker does not have."""

UNKNOWN_ERROR: Final = "UNKNOWN"
"""Stands for the code of an attempt that could not tell how it ended."""

RECONCILE_PATCH: Final = "temperance-reconcile:"
RUN_AGAIN_PATCH: Final = "temperance-run-again:"
"""Begin the patch ids, followed by a capability id, of runs that ask what became of its writes, and
that run again by themselves what did not happen."""

RECONCILE_SUFFIX: Final = ":reconcile"
"""Activity type of a capability's `reconcile`: its id and this, which no capability id can have."""

RESERVED_PREFIX: Final = "temperance."
"""Capability ids may not begin so: these activity and workflow types are the library's own."""
