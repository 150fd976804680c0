"""The table that a chaos run prints."""

from collections import Counter

from tests.chaos.evidence import Json
from tests.chaos.run import Ended
from tests.chaos.verify import envelopes
from tests.chaos.verify_trail import exceptions

_SHOWN = 20


def table(ended: Ended) -> str:
    """What was asked for, what fell upon it, what came of it, and each check."""
    found, deeds = ended.evidence, ended.deeds
    words = envelopes(found)
    outcomes = Counter(_outcome(envelope) for envelope in words.values())
    lines = [
        *("", f"executions asked for      {len(words)}"),
        f"  in workflows            {len(found.workflows)}, {sum(deeds.resets.values())} resets",
        f"  single, sent twice      {len(found.singles)}",
        f"handlers entered          {_rows(ended, 'entered')}",
        f"effects                   {_rows(ended, 'effect')}",
        f"events in the trail       {len(found.events)}",
        f"approvals, decisions      {len(found.approvals)}, {len(deeds.verdicts)}",
        f"worker processes ended    {ended.deaths}",
        f"blows                     {_counts(deeds.blows)}",
        *("", "outcomes"),
        *(f"  {count:6} {name}" for name, count in sorted(outcomes.items())),
        *("", "documented exceptions (guarantees, G1)"),
        *(f"  {count:6} {name}" for name, count in sorted(exceptions(found).items())),
        *("", "checks"),
    ]
    for name, failures in ended.failures.items():
        lines.append(f"  {'ok' if not failures else 'WRONG':6} {name.replace('_', ' ')}")
        lines += [f"           {failure}" for failure in failures[:_SHOWN]]
        if len(failures) > _SHOWN:
            lines.append(f"           and {len(failures) - _SHOWN} more")
    run = ended.run
    lines += [
        *("", f"seed {run.seed}, {run.executions} executions, {ended.seconds:.1f} s"),
        f"again: make chaos CHAOS_SEED={run.seed} CHAOS_EXECUTIONS={run.executions}",
        "",
    ]
    return "\n".join(lines)


def _rows(ended: Ended, phase: str) -> int:
    return sum(row.phase == phase for row in ended.evidence.rows)


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


def _outcome(envelope: Json) -> str:
    code = f" {envelope['error']['code']}" if "error" in envelope else ""
    return f"{envelope['status']}{code}, effect {envelope['effect']}"
