"""Many local reads, and much of them, in one workflow task (DESIGN section 12)."""

import pytest
from temporalio.api.history.v1 import HistoryEvent
from temporalio.worker import Worker

from temperance import Approvals, ConfigurationError, TemperanceClient
from temperance.embedded import EmbeddedServer
from temperance.runtime.actor import Actor
from temperance.runtime.envelope import ApprovalRequired
from temperance.runtime.runtime import Runtime
from temperance.workflows.outbox import MOST
from tests.guarantees.local.playing import Stand, entries
from tests.guarantees.local.workflows import Plan
from tests.support.waiting import wait_until

CROWD = 2_000
FULL = 60_000
MANY = 150


async def test_g1_two_thousand_local_reads_at_once_end_in_one_workflow_task(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """The server knows nothing of them until they have ended."""
    stand = await Stand.at(embedded, task_queue)
    asks = tuple(stand.ask("local.once", "one", note=str(number)) for number in range(CROWD))
    async with stand.worker():
        handle = await stand.start(plan=Plan(asks=asks, at_once=True))
        envelopes = await handle.result()
    assert [envelope.status for envelope in envelopes] == ["completed"] * CROWD
    names = await stand.names(handle)
    assert len(await stand.steps(handle)) == CROWD
    assert "WORKFLOW_TASK_FAILED" not in names
    await stand.replay(handle)


@pytest.mark.parametrize("at_once", [True, False])
async def test_g1_outputs_that_one_message_cannot_carry_are_sent_in_several(
    embedded: EmbeddedServer, task_queue: str, at_once: bool
) -> None:
    """Nine megabytes of outputs, at once and one after the other, and a large request beside."""
    stand = await Stand.at(embedded, task_queue)
    asks = [stand.ask("local.once", "one", size=FULL, note=str(n)) for n in range(MANY)]
    asks.insert(MANY // 2, stand.ask("remote.once", "beside", padding=1_900_000))
    async with stand.worker():
        handle = await stand.start(plan=Plan(asks=tuple(asks), at_once=at_once, keep=False))
        assert await handle.result() == []
    events = await stand.events(handle)
    assert "WORKFLOW_TASK_FAILED" not in await stand.names(handle)
    assert len(await stand.steps(handle)) == MANY
    assert max(message_sizes(events)) < MOST + 100_000
    await stand.replay(handle)


def message_sizes(events: list[HistoryEvent]) -> list[int]:
    """For each workflow task, the bytes of what ended it."""
    sizes: dict[int, int] = {}
    for event in events:
        marker = event.marker_recorded_event_attributes.workflow_task_completed_event_id
        asked = event.activity_task_scheduled_event_attributes.workflow_task_completed_event_id
        task = marker or asked
        if task:
            sizes[task] = sizes.get(task, 0) + event.ByteSize()
    return list(sizes.values())


async def test_g3_a_local_read_that_a_policy_wants_approved_runs_as_a_normal_one(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Its first attempt asks, inside the worker; the approval runs what was approved."""
    stand = await Stand.at(embedded, task_queue)
    ask = stand.ask("local.read", "case", rule="approve")
    async with stand.worker():
        handle = await stand.start(ask, hold=True)
        (asked,) = await stand.until(handle, 1)
        assert isinstance(asked, ApprovalRequired)
        assert entries(ask) == []
        await Approvals(stand.client).approve(str(asked.approval_id), approver=Actor(id="bob"))

        async def ran() -> bool:
            return len(entries(ask)) == 1

        await wait_until(ran)
        approval = stand.client.get_workflow_handle(str(asked.approval_id))
        await approval.result()
    assert entries(ask)[0][0] == asked.execution_id
    history = await approval.fetch_history()
    scheduled = [event.activity_task_scheduled_event_attributes for event in history.events]
    assert "local.read" in {attributes.activity_type.name for attributes in scheduled}
    assert stand.trail(asked)[-1] == ("completed", 1)
    await stand.replay(handle)


async def test_a_single_request_and_one_in_process_do_not_look_at_the_placement(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """There is no workflow whose worker it could run in."""
    stand = await Stand.at(embedded, task_queue)
    asks = [stand.ask("local.read", name, "fail", "return") for name in ("alone", "here")]
    async with stand.worker():
        client = TemperanceClient(
            stand.client, stand.app, actor=Actor(id="ada"), task_queue=task_queue
        )
        alone = await client.invoke("local.read", asks[0].question)
    here = await Runtime(stand.app).invoke(
        "local.read", asks[1].question, actor=Actor(id="ada"), surface="direct"
    )
    assert [(found.status, found.attempts) for found in (alone, here)] == [("completed", 2)] * 2


async def test_a_worker_without_a_workflow_cache_does_not_serve_local_reads(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """The SDK would cancel a running one for any other work, and lose its workflow task."""
    stand = await Stand.at(embedded, task_queue)
    with pytest.raises(ConfigurationError, match=r"max_cached_workflows is 0, and local\.read"):
        Worker(stand.client, task_queue=task_queue, max_cached_workflows=0)
