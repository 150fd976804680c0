"""The ids that executions must have, taken from the documentation and not from the library."""

import json
from hashlib import sha256
from uuid import UUID, uuid5

from tests.chaos.evidence import Evidence
from tests.chaos.jobs import Job

_EXECUTION = UUID("5b0c1a52-3f0e-5d5e-9d2c-6f1f0b7f4a01")
_KEY = UUID("5b0c1a52-3f0e-5d5e-9d2c-6f1f0b7f4a02")


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def step_of(job: Job) -> str:
    """The step id of a job: its own, or the automatic one. No two jobs are the same request."""
    digest = sha256(_canonical(job.model_dump(mode="json")).encode()).hexdigest()
    return job.step or f"{job.capability}-{digest[:8]}-1"


def execution_of(*name: str) -> str:
    """The execution id of a workflow's step, or of a single request."""
    return str(uuid5(_EXECUTION, _canonical(name)))


def key_of(execution_id: str) -> str:
    """The key of an execution."""
    return str(uuid5(_KEY, execution_id))


def expected(found: Evidence) -> dict[int, str]:
    """The execution id of every job that was to be asked for, by its number."""
    ids: dict[int, str] = {}
    for workflow_id, ended in found.workflows.items():
        for n in ended.jobs:
            step = step_of(found.jobs[n])
            ids[n] = execution_of(found.namespace, workflow_id, ended.first_run, step)
    for request_id, single in found.singles.items():
        ids[single.job] = execution_of(found.namespace, request_id, single.run_id)
    return ids
