"""What governance adds to a history: no event, and at most 160 bytes (DESIGN section 12)."""

from statistics import mean

from temporalio.worker import Worker

from benchmarks import stopwatch
from benchmarks.arms import TURNS
from benchmarks.audit import NullSink
from benchmarks.history import traces_of
from benchmarks.local import markers_of
from benchmarks.orders import give_back, refund, settle
from benchmarks.reads import LOCAL, Reads, by_hand, far, near
from benchmarks.workflows import Alternating
from temperance import App, Governance, TemperancePlugin
from temperance.embedded import EmbeddedServer
from tests.support.history import event_names, history_events

ROUNDS = 2 * len(TURNS)


async def test_an_ungated_execution_costs_the_three_events_of_an_activity_and_160_bytes_at_most(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Side by side in one workflow with the same work by hand, under the same options."""
    app = App(Governance([refund, settle]), sinks=[NullSink()])
    plugin = TemperancePlugin(app, passthrough=[stopwatch.__name__])
    client = await embedded.connect(plugins=[plugin])
    async with Worker(
        client, task_queue=task_queue, workflows=[Alternating], activities=[give_back]
    ):
        await client.execute_workflow(Alternating.run, ROUNDS, id=task_queue, task_queue=task_queue)
    traces = traces_of(await history_events(client, task_queue))
    governed = [trace for trace in traces if trace.type == refund.id]
    by_hand = [trace for trace in traces if trace.type == "orders.return"]
    assert (len(governed), len(by_hand)) == (ROUNDS, 2 * ROUNDS)
    for trace in governed:
        assert [name for name in trace.names if name.startswith("ACTIVITY_")] == [
            "ACTIVITY_TASK_SCHEDULED",
            "ACTIVITY_TASK_STARTED",
            "ACTIVITY_TASK_COMPLETED",
        ]
    # The last activity of the workflow is followed by its end.
    assert len({trace.names for trace in traces[:-1]}) == 1
    more = mean(trace.activity_bytes for trace in governed) - mean(
        trace.activity_bytes for trace in by_hand
    )
    assert 0 < more <= 160


async def test_a_local_read_costs_one_event_and_its_capability_two_more_in_a_run(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """And at most 160 bytes more than a local activity by hand (decision 0018)."""
    app = App(Governance([near, far]), sinks=[NullSink()])
    plugin = TemperancePlugin(app, passthrough=[stopwatch.__name__])
    client = await embedded.connect(plugins=[plugin])
    async with Worker(client, task_queue=task_queue, workflows=[Reads], activities=[by_hand]):
        await client.execute_workflow(
            Reads.run, args=[list(LOCAL), ROUNDS], id=task_queue, task_queue=task_queue
        )
    events = await history_events(client, task_queue)
    sizes: dict[str, int] = {"orders.near": 0, "orders.hand": 0}
    for type_, size in markers_of(events):
        sizes[type_] += size
    # One governed read comes before the rounds; of the arms by hand there are two.
    more = sizes["orders.near"] / (ROUNDS + 1) - sizes["orders.hand"] / (2 * ROUNDS)
    assert 0 < more <= 160
    names = event_names(events)
    assert names.count("MARKER_RECORDED") == 3 * ROUNDS + 1 + 1
    assert names.count("UPSERT_WORKFLOW_SEARCH_ATTRIBUTES") == 1
