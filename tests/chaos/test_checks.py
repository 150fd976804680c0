"""Each check of a chaos run sees what it is for: one thing is planted in sound evidence."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.chaos.evidence import Ended, Evidence, Json
from tests.chaos.formula import execution_of, key_of, step_of
from tests.chaos.jobs import Job, Kind
from tests.chaos.ledger import Row
from tests.chaos.load import Verdict
from tests.chaos.run import check

_RUN = "0190a0a0-0000-7000-8000-000000000000"
_KINDS: tuple[Kind, ...] = ("write", "charge", "gated")


def sound() -> Evidence:
    """A workflow that asked for three jobs, each of which was done once, and one approval."""
    found = Evidence(verdicts=[Verdict("approval-2", "user:boss", approve=True, refused=None)])
    found.workflows["w"] = Ended(_RUN, "COMPLETED", [], [0, 1, 2], [0, 1, 2])
    for n, kind in enumerate(_KINDS):
        job = found.jobs[n] = Job(seed=1, n=n, kind=kind)
        id_ = execution_of("default", "w", _RUN, step_of(job))
        row = Row(
            phase="entered",
            key=key_of(id_),
            execution_id=id_,
            capability=job.capability,
            workflow_id="w",
            run_id=_RUN,
            activity_id=step_of(job),
            attempt=1,
            job=n,
        )
        found.rows += [row, replace(row, phase="effect")]
        envelope: Json = {
            "status": "completed",
            "effect": "done",
            "execution_id": id_,
            "capability": job.capability,
            "output": {"n": n, "key": key_of(id_), "attempt": 1},
        }
        found.workflows["w"].answers.append({"n": n, "envelope": envelope})
        for type_ in ("capability.started", "capability.completed"):
            event = {"event_id": f"{id_}:1:{type_}", "execution_id": id_, "attempt": 1}
            at = "2026-01-01T00:00:00Z"
            found.events.append({**event, "type": type_, "at": at, "by": "1"})
        if kind == "gated":
            found.approvals[id_] = ("approval-2", envelope)
    return found


def _again(found: Evidence) -> None:
    found.rows.append(found.rows[1])


def _entered_again(found: Evidence) -> None:
    found.rows.append(replace(found.rows[0], run_id="another"))


def _wrong_key(found: Evidence) -> None:
    found.rows[3] = replace(found.rows[3], key=key_of("another"))


def _orphan(found: Evidence) -> None:
    found.rows.append(replace(found.rows[1], execution_id="nobody", key=key_of("nobody")))


def _unplanned(found: Evidence) -> None:
    found.rows.append(replace(found.rows[3], job=99))


def _no_effect(found: Evidence) -> None:
    del found.rows[1]


def _denied_effect(found: Evidence) -> None:
    answer = found.workflows["w"].answers[1]
    found.workflows["w"].answers[1] = _with(answer, status="failed", effect="none")


def _lost(found: Evidence) -> None:
    del found.workflows["w"].answers[1]


def _twice(found: Evidence) -> None:
    found.workflows["w"].answers.append(found.workflows["w"].answers[0])


def _invisible(found: Evidence) -> None:
    answer = found.workflows["w"].answers[0]
    found.workflows["w"].answers[0] = _with(answer, status="approval_required")


def _stuck(found: Evidence) -> None:
    found.workflows["w"].status = "RUNNING"


def _no_start(found: Evidence) -> None:
    del found.events[0]


def _no_end(found: Evidence) -> None:
    del found.events[1]


def _second_end(found: Evidence) -> None:
    found.events.append({**found.events[1], "event_id": "another", "attempt": 2})


def _other_code(found: Evidence) -> None:
    found.events.append({**found.events[1], "type": "capability.failed", "error_code": "TIMEOUT"})


def _not_approved(found: Evidence) -> None:
    found.verdicts = [replace(found.verdicts[0], approve=False)]


def _both_counted(found: Evidence) -> None:
    found.verdicts.append(replace(found.verdicts[0], approver="user:other", approve=False))


def _with(answer: Json, **changes: object) -> Json:
    return {**answer, "envelope": {**answer["envelope"], **changes}}


def test_sound_evidence_passes_every_check() -> None:
    """Nothing is found where nothing is wrong."""
    assert not any(check(sound()).values())


@pytest.mark.parametrize(
    ("plant", "name"),
    [
        (_again, "no_second_effect"),
        (_entered_again, "no_second_effect"),
        (_lost, "one_envelope_each"),
        (_twice, "one_envelope_each"),
        (_invisible, "one_envelope_each"),
        (_stuck, "one_envelope_each"),
        (_orphan, "effects_were_asked_for"),
        (_unplanned, "effects_were_asked_for"),
        (_wrong_key, "keys_follow_the_formula"),
        (_no_effect, "envelopes_agree_with_the_ledger"),
        (_denied_effect, "envelopes_agree_with_the_ledger"),
        (_no_start, "effects_have_a_start"),
        (_no_end, "ends_agree_with_envelopes"),
        (_second_end, "further_ends_are_explained"),
        (_other_code, "further_ends_are_explained"),
        (_not_approved, "approved_before_run"),
        (_both_counted, "approved_before_run"),
    ],
)
def test_what_is_wrong_is_found_by_the_check_of_that_name(
    plant: Callable[[Evidence], None], name: str
) -> None:
    """One thing is planted into sound evidence, and the check that it is for says so."""
    found = sound()
    plant(found)
    assert check(found)[name]
