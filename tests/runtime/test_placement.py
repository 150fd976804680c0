"""Where a capability may run: refused at build, with the other problems (decision 0018, G2)."""

from datetime import timedelta
from typing import Any

import pytest

from temperance.runtime.capability import Approval
from temperance.runtime.descriptor import descriptor_of
from temperance.runtime.error import RegistryError
from temperance.runtime.names import SIDE_EFFECTS, WRITE_LIKE
from temperance.runtime.registry import CapabilityRegistry
from temperance.runtime.retry import Retry
from tests.runtime.orders import make

SHORT = timedelta(seconds=5)


def problems(**metadata: Any) -> list[str]:
    """What is wrong with a local read of this metadata."""
    usual: dict[str, Any] = {"side_effect": "read", "placement": "local", "timeout": SHORT}
    try:
        CapabilityRegistry([make(**{**usual, **metadata})])
    except RegistryError as error:
        return [line.partition(": ")[2] for line in error.problems]
    return []


@pytest.mark.parametrize("side_effect", SIDE_EFFECTS)
@pytest.mark.parametrize("idempotent", [True, False])
def test_g2_only_what_writes_nothing_may_be_local(side_effect: str, idempotent: bool) -> None:
    """Not even what may be repeated: a local activity that ran again would not be told apart."""
    found = problems(side_effect=side_effect, idempotent=idempotent)
    assert len(found) == (side_effect in WRITE_LIKE)
    assert all(line.startswith("placement is local for side_effect=") for line in found)


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"timeout": timedelta(seconds=30)}, "placement is local with a timeout of 0:00:30"),
        ({"timeout": SHORT + timedelta(microseconds=1)}, "a timeout of at most 5 seconds"),
        ({"queue_timeout": SHORT}, "placement is local with a queue_timeout"),
        ({"retry": Retry(max_retries=11)}, "give at most 10"),
        ({"approval": Approval()}, "a person must approve each execution"),
    ],
)
def test_what_cannot_run_inside_a_workflow_task_is_refused(
    metadata: dict[str, Any], said: str
) -> None:
    """One line, which says what to do; the same is fine for a normal activity."""
    (line,) = problems(**metadata)
    assert said in line
    assert problems(**metadata, placement="remote") == []


def test_what_a_policy_may_want_approved_may_be_local() -> None:
    """And so may what is tried again, as often as a history can bear."""
    assert problems(approval=Approval(required=False), retry=Retry(max_retries=10)) == []


def test_all_that_is_wrong_with_a_placement_is_listed_at_once() -> None:
    """Beside what else is wrong."""
    found = problems(
        description="",
        side_effect="write",
        timeout=timedelta(minutes=1),
        queue_timeout=SHORT,
        approval=Approval(),
    )
    assert len(found) == 5


@pytest.mark.parametrize("placement", ["Local", "here", "", None, 7, ["local"]])
def test_an_unknown_placement_is_refused(placement: Any) -> None:
    """One line, also for what is no text at all."""
    (line,) = problems(placement=placement)
    assert line.endswith("give remote or local")


@pytest.mark.parametrize(
    "metadata", [{"timeout": 7}, {"retry": 7}, {"approval": 7}, {"side_effect": ["write"]}]
)
def test_a_value_of_a_wrong_type_has_its_own_line_alone(metadata: dict[str, Any]) -> None:
    """Whatever the placement is."""
    (line,) = problems(**metadata)
    assert "placement" not in line


def test_a_descriptor_says_where_a_capability_runs() -> None:
    """As declared."""
    local = make(side_effect="read", placement="local", timeout=SHORT)
    assert [descriptor_of(entry).placement for entry in (local, make())] == ["local", "remote"]
