"""A write is never a local activity, which may run again as a first attempt (G2)."""

from temporalio.client import Client

from tests.guarantees.runs.books import Books
from tests.guarantees.runs.jobs import Plan
from tests.guarantees.runs.rewinding import ask, worker
from tests.guarantees.runs.workflows import LocalForeign


async def test_g2_a_write_that_foreign_code_runs_as_a_local_activity_is_refused(
    desk: Client, task_queue: str, books: Books
) -> None:
    """When its worker dies it runs again, and nothing tells it that it ran before.

    What may be repeated under its key, and what only reads, runs.
    """
    plan = Plan(asks=(ask("write", "w"), ask("charge", "c"), ask("read", "r")))
    async with worker(desk, task_queue, LocalForeign):
        refused, *outputs = await desk.execute_workflow(
            LocalForeign.run, plan, id=task_queue, task_queue=task_queue
        )

    assert refused == "RETRY_FORBIDDEN"
    assert [isinstance(output, dict) for output in outputs] == [True, True]
    assert [entry.label for entry in books.entries()] == ["c", "r"]
