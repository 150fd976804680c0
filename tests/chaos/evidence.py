"""What is left when the storm is over, as plain data: what the checks are made from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client

from temperance import Approvals
from tests.chaos.fleet import Fleet
from tests.chaos.jobs import Job
from tests.chaos.ledger import Row
from tests.chaos.load import Load, Verdict
from tests.chaos.storm import Deeds
from tests.support.history import history_events

# Envelopes and events as JSON has them: the checks must not lean on the library's own reading.
Json = Mapping[str, Any]


@dataclass
class Ended:
    """The last run of a workflow: how it ended, with what, and which jobs it had scheduled."""

    first_run: str
    status: str
    answers: list[Json]
    scheduled: list[int]
    jobs: list[int]
    reset: bool = False
    cancelled: bool = False


@dataclass
class Single:
    """A single request: the run that the server knows, and what each sender was told."""

    run_id: str
    job: int
    envelopes: list[Json]


@dataclass
class Evidence:
    """All of it.

    `approvals` is by execution id: approval id and envelope, None while pending. `events` say in
    `by` which process wrote them, `disturbed` are the processes that died or stood still, `away`
    is from when to when, in Unix time, there was no server.
    """

    namespace: str = "default"
    jobs: dict[int, Job] = field(default_factory=dict[int, Job])
    workflows: dict[str, Ended] = field(default_factory=dict[str, Ended])
    singles: dict[str, Single] = field(default_factory=dict[str, Single])
    approvals: dict[str, tuple[str, Json | None]] = field(
        default_factory=dict[str, tuple[str, Json | None]]
    )
    verdicts: list[Verdict] = field(default_factory=list[Verdict])
    rows: list[Row] = field(default_factory=list[Row])
    events: list[Json] = field(default_factory=list[Json])
    disturbed: set[str] = field(default_factory=set[str])
    away: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])


async def gather(fleet: Fleet, client: Client, load: Load, deeds: Deeds) -> Evidence:
    """Ask the server, read the ledger and the trail. Everything must have ended."""
    found = Evidence(namespace=client.namespace, verdicts=deeds.verdicts)
    found.jobs = {n: load.job(n) for n in range(load.executions)}
    for id_, plan in load.plans.items():
        ended = found.workflows[id_] = await _ended(client, id_, deeds.first_runs[id_])
        ended.jobs = [job.n for job in plan.jobs]
        ended.reset, ended.cancelled = id_ in deeds.resets, id_ in deeds.cancelled
    for id_, job in load.singles.items():
        described = await client.get_activity_handle(id_).describe()
        envelopes: list[Json] = [envelope.to_dict() for envelope in deeds.singles[id_]]
        found.singles[id_] = Single(described.activity_run_id or "", job.n, envelopes)
    approvals = Approvals(client)
    listed = [entry async for entry in approvals.list("all")]
    for entry in listed:
        envelope = await approvals.outcome_so_far(entry.id)
        found.approvals[entry.execution_id] = (
            entry.id,
            None if envelope is None else envelope.to_dict(),
        )
    found.rows = fleet.ledger.rows()
    for path in sorted((fleet.folder / "audit").glob("*.jsonl")):
        for line in path.read_text().splitlines():
            found.events.append({**json.loads(line), "by": path.stem})
    found.disturbed, found.away = {str(pid) for pid in fleet.disturbed}, fleet.away
    return found


async def _ended(client: Client, id_: str, first_run: str) -> Ended:
    described = await client.get_workflow_handle(id_).describe()
    scheduled: list[int] = []
    answers: list[Json] = []
    for event in await history_events(client, id_, described.run_id):
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
            asked = event.activity_task_scheduled_event_attributes
            if asked.activity_type.name.startswith("chaos."):
                scheduled.append(json.loads(asked.input.payloads[0].data)["n"])
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:
            payloads = event.workflow_execution_completed_event_attributes.result.payloads
            answers = json.loads(payloads[0].data)
    status = "NONE" if described.status is None else described.status.name
    return Ended(first_run, status, answers, scheduled, [])
