"""The checks of trail and approvals, and how often the documented exceptions occurred."""

from collections import Counter, defaultdict
from datetime import datetime

from tests.chaos.evidence import Evidence, Json
from tests.chaos.verify import envelopes

TERMINAL = {
    "completed": {"capability.completed"},
    "failed": {
        "capability.failed",
        "capability.denied",
        "capability.rejected",
        "capability.approval_expired",
        "capability.approval_cancelled",
    },
    "cancelled": {"capability.cancelled", "capability.approval_cancelled"},
}
_ANY_END = set[str]().union(*TERMINAL.values())
_MAYBE = {"TIMEOUT", "INTERNAL_ERROR"}
"""A decider that was told this does not know whether its decision counts."""


def events_by_execution(found: Evidence) -> dict[str, list[Json]]:
    """The trail, each event once.

    Two ends of one attempt with different codes are two, although they have one id: a process in
    trouble recorded what it saw, and then the asking side what the server said.
    """
    once = {(event["event_id"], event.get("error_code")): event for event in found.events}
    trail: dict[str, list[Json]] = defaultdict(list)
    for event in once.values():
        trail[event["execution_id"]].append(event)
    return trail


def effects_have_a_start(found: Evidence) -> list[str]:
    """Every handler that was entered has a `capability.started` of its attempt in the trail."""
    started = {
        (event["execution_id"], event["attempt"])
        for event in found.events
        if event["type"] == "capability.started"
    }
    return [
        f"job {row.job}: attempt {row.attempt} of {row.execution_id} has no start in the trail"
        for row in found.rows
        if (row.execution_id, row.attempt) not in started
    ]


def ends_agree_with_envelopes(found: Evidence) -> list[str]:
    """Every envelope has its terminal event in the trail, with the code that it says."""
    trail = events_by_execution(found)
    wrong: list[str] = []
    for n, envelope in envelopes(found).items():
        status = envelope["status"]
        if status == "approval_required":
            continue
        events = trail[envelope["execution_id"]]
        ends = [event for event in events if event["type"] in TERMINAL[status]]
        code = envelope["error"]["code"] if "error" in envelope else None
        same = [event for event in ends if code in (None, event.get("error_code"))]
        if not same:
            seen = [(event["type"], event.get("error_code")) for event in events]
            wrong.append(f"job {n} ({envelope['capability']}) is {status} ({code}): {seen}")
    return wrong


def approved_before_run(found: Evidence) -> list[str]:
    """G3: what needs an approval ran only when approved, and one decision at most counted."""
    execution_of = {id_: execution for execution, (id_, _) in found.approvals.items()}
    counted: dict[str, set[tuple[str, bool]]] = defaultdict(set)
    perhaps: set[str] = set()
    wrong: list[str] = []
    for verdict in found.verdicts:
        execution_id = execution_of.get(verdict.approval)
        if execution_id is None:
            wrong.append(f"{verdict.approval}: decided, and not listed")
        elif verdict.refused is None:
            counted[execution_id].add((verdict.approver, verdict.approve))
        elif verdict.refused in _MAYBE and verdict.approve:
            perhaps.add(execution_id)
    for execution_id, decisions in counted.items():
        if len(decisions) > 1:
            wrong.append(f"{execution_id}: several decisions counted: {sorted(decisions)}")
    approved = {
        execution_id
        for execution_id, decisions in counted.items()
        if any(approve for _, approve in decisions)
    }
    wrong += [
        f"job {row.job}: {row.phase} of {row.execution_id} without an approval"
        for row in found.rows
        if row.capability == "chaos.gated" and row.execution_id not in approved | perhaps
    ]
    return wrong


def further_ends_are_explained(found: Evidence) -> list[str]:
    """G1: an end that another one follows in the same run was recorded by a process in trouble.

    It died, or stood still, or the server was away, before it could report the end.
    """
    wrong: list[str] = []
    for execution_id, events in events_by_execution(found).items():
        by_run: dict[object, list[Json]] = defaultdict(list)
        for event in sorted(events, key=lambda one: one["at"]):
            if event["type"] in _ANY_END:
                by_run[event.get("workflow_id"), event.get("run_id")].append(event)
        wrong += [
            f"{execution_id}: {[_end(one) for one in ends]}"
            for ends in by_run.values()
            if any(not _in_trouble(found, one) for one in ends[:-1])
        ]
    return wrong


def _in_trouble(found: Evidence, event: Json) -> bool:
    at = datetime.fromisoformat(event["at"]).timestamp()
    away = any(begun - 2 < at < ended for begun, ended in found.away)
    return away or event["by"] in found.disturbed


def _end(event: Json) -> tuple[object, ...]:
    return event["type"], event["attempt"], event.get("error_code"), event["by"]


def exceptions(found: Evidence) -> Counter[str]:
    """How often what docs/guarantees.md excepts from G1 occurred: further ends in the trail."""
    reset = {id_ for id_, ended in found.workflows.items() if ended.reset}
    counts = Counter[str]()
    for events in events_by_execution(found).values():
        ends = [event for event in events if event["type"] in _ANY_END]
        if len(ends) < 2:
            continue
        runs = Counter((event.get("workflow_id"), event.get("run_id")) for event in ends)
        if max(runs.values()) > 1:
            counts["executions with a second end in one run"] += 1
            first = min(ends, key=lambda event: str(event["at"]))
            if first["by"] not in found.disturbed:
                counts["  of these: only the server was away"] += 1
        elif any(event.get("workflow_id") in reset for event in ends):
            counts["executions with an end in several runs after a reset"] += 1
        else:
            counts["executions with a second end, in the asker's run and the approval's"] += 1
    return counts
