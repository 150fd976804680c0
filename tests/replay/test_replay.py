"""Histories that earlier releases recorded are replayed without drift, handler or event (G6).

The sets in the inputs are of strings, whose order differs in every process: each run of these tests
replays them in an order of its own.
"""

import dataclasses
import json
import re
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer

from temperance import App, Governance, MemorySink, TemperancePlugin
from tests.replay import changed, shop
from tests.replay.record import HISTORIES, RECORDERS
from tests.replay.stories import STORIES

PATHS = sorted(HISTORIES.glob("*.json"))


def history(path: Path) -> WorkflowHistory:
    """A committed history."""
    return WorkflowHistory.from_json(path.stem, path.read_text())


def replayer(events: MemorySink, *workflows: type) -> Replayer:
    """A replayer with the plugin, and nothing else set up."""
    return Replayer(workflows=list(workflows), plugins=[TemperancePlugin(shop.shop([events]))])


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
async def test_g6_a_recorded_history_is_replayed_without_drift_handler_or_event(path: Path) -> None:
    """Finished and running, failed, cancelled, retried, rewound and continued."""
    events = MemorySink()
    entered = len(shop.entries)

    await replayer(events, *STORIES).replay_workflow(history(path))

    assert len(shop.entries) == entered
    assert events.events == []


async def test_g6_all_histories_are_replayed_by_one_replayer() -> None:
    """As a deploy checks what it is about to take over."""
    events = MemorySink()

    async def all_of_them() -> AsyncGenerator[WorkflowHistory]:
        for path in PATHS:
            yield history(path)

    results = await replayer(events, *STORIES).replay_workflows(
        all_of_them(), raise_on_replay_failure=False
    )

    assert results.replay_failures == {}
    assert events.events == []


async def test_g6_a_workflow_that_asks_otherwise_than_recorded_is_found_out() -> None:
    """The replays above can fail: another input is another step, and drifts."""
    with pytest.raises(workflow.NondeterminismError):
        await replayer(MemorySink(), changed.Again).replay_workflow(
            history(HISTORIES / "continued.json")
        )


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
async def test_g6_a_history_is_replayed_whatever_the_placement_of_its_reads_is_by_now(
    path: Path,
) -> None:
    """What was recorded as an activity is not made a local one, and the other way round."""
    moved = [
        dataclasses.replace(shop.look_up, placement="local"),
        dataclasses.replace(shop.glance, placement="remote"),
    ]
    kept = [entry for entry in shop.CAPABILITIES if entry not in (shop.look_up, shop.glance)]
    app = App(Governance([*kept, *moved]), sinks=[])

    await Replayer(workflows=list(STORIES), plugins=[TemperancePlugin(app)]).replay_workflow(
        history(path)
    )


def test_every_story_has_its_history_and_every_history_holds_what_it_is_there_for() -> None:
    """Failures, retries, timeouts, a cancellation, local records, signals and updates."""
    assert {path.stem for path in PATHS} >= set(RECORDERS)
    types = {
        path.stem: [str(event["eventType"]).removeprefix("EVENT_TYPE_") for event in _events(path)]
        for path in PATHS
    }
    assert set(types["finished"]) >= {
        "ACTIVITY_TASK_COMPLETED",
        "ACTIVITY_TASK_FAILED",
        "ACTIVITY_TASK_TIMED_OUT",
        "ACTIVITY_TASK_CANCEL_REQUESTED",
        "MARKER_RECORDED",
        "WORKFLOW_EXECUTION_SIGNALED",
        "WORKFLOW_EXECUTION_UPDATE_COMPLETED",
        "WORKFLOW_EXECUTION_COMPLETED",
    }
    text = (HISTORIES / "finished.json").read_text()
    attempts = [int(number) for number in re.findall(r'"attempt": (\d+)', text)]
    assert max(attempts) == 2
    assert not any(name.startswith("WORKFLOW_EXECUTION_COMPLETED") for name in types["running"])
    begun = types["running"].count("ACTIVITY_TASK_SCHEDULED")
    assert begun > sum(
        types["running"].count(f"ACTIVITY_TASK_{end}")
        for end in ("COMPLETED", "FAILED", "TIMED_OUT")
    )
    assert types["cancelled"][-1] == "WORKFLOW_EXECUTION_CANCELED"
    assert types["continued"][-1] == "WORKFLOW_EXECUTION_CONTINUED_AS_NEW"
    assert types["step_repeated"][-1] == "WORKFLOW_EXECUTION_FAILED"
    assert types["rewound"].count("WORKFLOW_TASK_FAILED") == 1
    local = (HISTORIES / "local.json").read_text()
    assert local.count('"markerName": "core_local_activity"') == 14
    assert local.count('"markerName": "core_patch"') == 1
    assert types["local"].count("ACTIVITY_TASK_COMPLETED") == 2
    assert types["local"][-1] == "WORKFLOW_EXECUTION_COMPLETED"
    settled = (HISTORIES / "settled.json").read_text()
    assert len(re.findall(r'"activityId": "[^"]+:reconcile-[12]"', settled)) == 6
    assert len(re.findall(r'"activityId": "[^"]+:again-2"', settled)) == 3
    assert types["settled"].count("MARKER_RECORDED") == 2


def test_no_committed_history_names_the_machine_that_recorded_it() -> None:
    """No stack, no path, and an identity that is nobody's."""
    for path in PATHS:
        text = path.read_text()
        assert "stackTrace" not in text
        assert "site-packages" not in text
        identities = {line.strip() for line in text.splitlines() if '"identity"' in line}
        assert identities <= {'"identity": "recorder"', '"identity": "recorder",'} | {
            '"identity": "history-resetter"',
            '"identity": "history-service"',
            '"identity": "history-service",',
        }, (path, identities)


def _events(path: Path) -> list[dict[str, object]]:
    events: list[dict[str, object]] = json.loads(path.read_text())["events"]
    return events
