"""Everything that can become of a request, and what the record says of it."""

from typing import NamedTuple

from tests.guarantees.trail.capabilities import SECRET, Wish


def wish(*ends: str) -> str:
    return Wish(ends=ends).model_dump_json()


class Outcome(NamedTuple):
    """What is asked for, and the trail that it leaves."""

    capability: str
    text: str
    types: tuple[str, ...]
    code: str | None
    effect: str


OUTCOMES: dict[str, Outcome] = {
    "completed": Outcome(
        "trail.write",
        wish("return"),
        ("requested", "started", "completed"),
        None,
        "done",
    ),
    "completed at last": Outcome(
        "trail.read",
        wish("raise", "time out", "return"),
        ("requested", "started", "retried", "started", "retried", "started", "completed"),
        None,
        "done",
    ),
    "given up": Outcome(
        "trail.read",
        wish("raise"),
        ("requested", "started", "retried", "started", "retried", "started", "failed"),
        "EXECUTION_FAILED",
        "possible",
    ),
    "failed": Outcome(
        "trail.write",
        wish("raise"),
        ("requested", "started", "failed"),
        "EXECUTION_FAILED",
        "possible",
    ),
    "declared": Outcome(
        "trail.read",
        wish("declare"),
        ("requested", "started", "failed"),
        "EXECUTION_FAILED",
        "possible",
    ),
    "timed out": Outcome(
        "trail.write",
        wish("time out"),
        ("requested", "started", "failed"),
        "TIMEOUT",
        "possible",
    ),
    "misfit": Outcome(
        "trail.read",
        wish("misfit"),
        ("requested", "started", "failed"),
        "OUTPUT_INVALID",
        "done",
    ),
    "denied": Outcome(
        "trail.write", wish("deny"), ("requested", "denied"), "POLICY_DENIED", "none"
    ),
    "denied late": Outcome(
        "trail.write",
        wish("deny late"),
        ("requested", "denied"),
        "POLICY_DENIED",
        "none",
    ),
    "broken": Outcome(
        "trail.read", wish("break"), ("requested", "denied"), "POLICY_FAILED", "none"
    ),
    "hidden": Outcome(
        "trail.write",
        wish("hide"),
        ("requested", "denied"),
        "CAPABILITY_NOT_FOUND",
        "none",
    ),
    "to be approved": Outcome(
        "trail.write",
        wish("ask"),
        ("requested", "approval_requested"),
        None,
        "none",
    ),
    "unlisted": Outcome(
        "trail.unlisted",
        wish("return"),
        ("requested", "denied"),
        "CAPABILITY_NOT_FOUND",
        "none",
    ),
    "unexposed": Outcome(
        "trail.inside",
        wish("return"),
        ("requested", "denied"),
        "CAPABILITY_NOT_FOUND",
        "none",
    ),
    "unknown": Outcome(
        "trail.nothing",
        wish("return"),
        ("requested", "denied"),
        "CAPABILITY_NOT_FOUND",
        "none",
    ),
    "invalid": Outcome(
        "trail.write",
        f'{{"{SECRET}": 1}}',
        ("requested", "failed"),
        "INPUT_INVALID",
        "none",
    ),
    "no JSON": Outcome(
        "trail.write", f"{{{SECRET}", ("requested", "failed"), "INPUT_INVALID", "none"
    ),
}
