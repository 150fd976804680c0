"""Histories of approvals are replayed without drift, handler or event (G3, G6)."""

import dataclasses
import json
from pathlib import Path

import pytest
from temporalio.worker import Replayer

from temperance import Actor, MemorySink, TemperancePlugin
from temperance.runtime.approval import ApprovalRecord
from tests.replay import shop
from tests.replay.record import HISTORIES
from tests.replay.record_approvals import APPROVALS
from tests.replay.stories import STORIES
from tests.replay.test_replay import history

PATHS = [HISTORIES / f"{name}.json" for name in APPROVALS]

ENDS = {
    "approval-pending": ["TIMER_STARTED"],
    "approval-executing": ["WORKFLOW_EXECUTION_UPDATE_COMPLETED", "ACTIVITY_TASK_SCHEDULED"],
    "approval-completed": ["WORKFLOW_EXECUTION_UPDATE_COMPLETED", "ACTIVITY_TASK_COMPLETED"],
    "approval-rejected": ["WORKFLOW_EXECUTION_UPDATE_COMPLETED", "ACTIVITY_TASK_COMPLETED"],
    "approval-expired": ["TIMER_FIRED"],
    "approval-withdrawn": ["WORKFLOW_EXECUTION_UPDATE_COMPLETED"],
    "approval-cancelled": ["WORKFLOW_EXECUTION_CANCEL_REQUESTED"],
    "approval-reset": ["WORKFLOW_TASK_FAILED", "WORKFLOW_EXECUTION_UPDATE_COMPLETED"],
    "approval-asking-pending": ["CHILD_WORKFLOW_EXECUTION_STARTED"],
    "approval-asking-completed": ["CHILD_WORKFLOW_EXECUTION_COMPLETED", "MARKER_RECORDED"],
    "approval-asking-cancelled": ["EXTERNAL_WORKFLOW_EXECUTION_CANCEL_REQUESTED"],
    "approval-asking-reset": ["START_CHILD_WORKFLOW_EXECUTION_FAILED", "ACTIVITY_TASK_COMPLETED"],
}
"""What each history is there for."""


def types(path: Path) -> list[str]:
    """The types of the events of a history."""
    events: list[dict[str, str]] = json.loads(path.read_text())["events"]
    return [event["eventType"].removeprefix("EVENT_TYPE_") for event in events]


def never(approver: Actor, record: ApprovalRecord) -> bool:
    """The rules were tightened since, for everybody."""
    raise AssertionError(approver, record)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
async def test_g3_a_decision_that_was_accepted_is_not_judged_again_by_a_replay(path: Path) -> None:
    """Pending, decided and completed; whatever the rules have come to be. Nothing is run."""
    events = MemorySink()
    entered = len(shop.entries)
    app = dataclasses.replace(shop.shop([events]), may_approve=never)

    replayer = Replayer(workflows=list(STORIES), plugins=[TemperancePlugin(app)])
    await replayer.replay_workflow(history(path))

    assert len(shop.entries) == entered
    assert events.events == []


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_g3_every_approval_history_holds_what_it_is_there_for(path: Path) -> None:
    """The events without which its replay would say nothing."""
    assert {*ENDS[path.stem]} <= {*types(path)}
    closed = "WORKFLOW_EXECUTION_COMPLETED" in types(path)
    assert closed is not path.stem.endswith(("pending", "executing"))
