"""The checks. Each has a name, looks at the evidence alone, and gives one text per failure."""

from collections import Counter, defaultdict
from collections.abc import Callable

from tests.chaos.evidence import Evidence, Json
from tests.chaos.formula import expected, key_of

Check = Callable[[Evidence], list[str]]

WRITES = {"chaos.write", "chaos.blocking", "chaos.gated", "chaos.patient"}
"""What nothing deduplicates."""


def envelopes(found: Evidence) -> dict[int, Json]:
    """The last word on each job: what the workflow got, or what its approval came to since."""
    last: dict[int, Json] = {}
    for ended in found.workflows.values():
        last.update({answer["n"]: answer["envelope"] for answer in ended.answers})
    for single in found.singles.values():
        last[single.job] = single.envelopes[0]
    for n, envelope in last.items():
        if envelope["status"] == "approval_required":
            _, outcome = found.approvals.get(envelope["execution_id"], ("", None))
            last[n] = outcome or envelope
    return last


def no_second_effect(found: Evidence) -> list[str]:
    """G2, G3, G11: what is not idempotent is entered once, and takes effect once."""
    counts = Counter(
        (row.phase, row.execution_id, row.capability)
        for row in found.rows
        if row.capability in WRITES
    )
    return [
        f"{capability} {execution_id}: {phase} {count} times"
        for (phase, execution_id, capability), count in counts.items()
        if count > 1
    ]


def one_envelope_each(found: Evidence) -> list[str]:
    """G1: whatever was scheduled has one envelope, or waits for a person who is listed."""
    wrong: list[str] = []
    ids = expected(found)
    for id_, ended in found.workflows.items():
        if ended.status != "COMPLETED":
            wrong.append(f"{id_}: ended as {ended.status}")
        counts = Counter(answer["n"] for answer in ended.answers)
        wrong += [
            f"{id_}: {count} envelopes of job {n}" for n, count in counts.items() if count > 1
        ]
        wrong += [f"{id_}: no envelope of job {n}" for n in ended.scheduled if n not in counts]
        wrong += [f"{id_}: job {n} was not in the plan" for n in counts if n not in ended.jobs]
        if not ended.cancelled:
            wrong += [f"{id_}: job {n} was not asked for" for n in ended.jobs if n not in counts]
        for answer in ended.answers:
            n, envelope = answer["n"], answer["envelope"]
            if n in ids and envelope["execution_id"] != ids[n]:
                wrong.append(f"{id_}: job {n} has the execution id {envelope['execution_id']}")
            if n not in ended.scheduled and envelope["effect"] != "none":
                wrong.append(f"{id_}: job {n} was never scheduled, and {envelope['effect']}")
            wrong += _waiting(found, envelope)
    for id_, single in found.singles.items():
        if any(_told(envelope) != _told(single.envelopes[0]) for envelope in single.envelopes):
            wrong.append(f"{id_}: the two senders were told different things: {single.envelopes}")
        wrong += [line for envelope in single.envelopes for line in _waiting(found, envelope)]
    return wrong


def _told(envelope: Json) -> Json:
    """Without the moment until which an approval waits: each sender may have begun the wait."""
    return {name: value for name, value in envelope.items() if name != "expires_at"}


def _waiting(found: Evidence, envelope: Json) -> list[str]:
    asked = envelope["status"] == "approval_required"
    if asked and envelope["execution_id"] not in found.approvals:
        return [f"{envelope['execution_id']}: waits for an approval that nobody can see"]
    return []


def effects_were_asked_for(found: Evidence) -> list[str]:
    """G5: every effect belongs to a job of the plan, under the documented execution id."""
    ids = expected(found)
    wrong: list[str] = []
    for row in found.rows:
        job = found.jobs.get(row.job)
        if job is None or row.capability != job.capability:
            wrong.append(f"{row.capability} {row.execution_id}: nobody asked for job {row.job}")
        elif row.execution_id != ids[row.job]:
            wrong.append(f"job {row.job}: execution id {row.execution_id}, not {ids[row.job]}")
    return wrong


def keys_follow_the_formula(found: Evidence) -> list[str]:
    """G5: the key of every row is the documented one."""
    return [
        f"job {row.job}: key {row.key}, not {key_of(row.execution_id)}"
        for row in found.rows
        if row.key != key_of(row.execution_id)
    ]


def envelopes_agree_with_the_ledger(found: Evidence) -> list[str]:
    """What was completed has an effect, and what says `none` has none."""
    effects: dict[str, list[str]] = defaultdict(list)
    for row in found.rows:
        if row.phase == "effect":
            effects[row.execution_id].append(row.key)
    wrong: list[str] = []
    for n, envelope in envelopes(found).items():
        keys = effects[envelope["execution_id"]]
        said = f"job {n} ({envelope['capability']}) is {envelope['status']}"
        if envelope["status"] == "completed":
            if envelope["output"]["key"] not in keys:
                wrong.append(f"{said} without an effect")
        elif envelope["effect"] == "none" and keys and found.jobs[n].kind != "read":
            wrong.append(f"{said} with effect none, and took effect: {envelope.get('error')}")
    return wrong
