"""More executions at once than the server takes (DESIGN section 12, limits of the engine)."""

from temporalio.worker import Worker

from temperance import App, Governance, MemorySink, TemperancePlugin
from temperance.embedded import EmbeddedServer
from tests.guarantees.crowd import echo
from tests.guarantees.crowd_workflow import Crowd
from tests.support.history import event_names, history_events

SIZE = 2_100


async def test_g1_more_requests_at_once_than_the_server_takes_wait_for_one_another(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """2,000 pending activities are the server's limit; the 2,001st would fail the task for ever."""
    app = App(Governance([echo]), sinks=[MemorySink()])
    client = await embedded.connect(plugins=[TemperancePlugin(app)])
    async with Worker(client, task_queue=task_queue, workflows=[Crowd]):
        right = await client.execute_workflow(Crowd.run, SIZE, id=task_queue, task_queue=task_queue)
    assert right == SIZE
    names = event_names(await history_events(client, task_queue))
    assert "WORKFLOW_TASK_FAILED" not in names
    assert names.count("ACTIVITY_TASK_SCHEDULED") == SIZE
