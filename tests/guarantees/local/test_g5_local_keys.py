"""A local read has the ids that a normal one in its place would have (G5)."""

from datetime import timedelta

from temporalio.common import RetryPolicy

from temperance.embedded import EmbeddedServer
from tests.guarantees.local.playing import Handle, Stand, entries
from tests.guarantees.local.workflows import Plan
from tests.guarantees.runs.rewinding import reset_to_start
from tests.guarantees.runs.test_g5_keys import documented, original_run_id

TWICE = RetryPolicy(maximum_attempts=2, initial_interval=timedelta(milliseconds=1))


async def test_g5_the_key_of_a_local_read_is_the_documented_formula(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Explicit and automatic steps, over its attempts; a repeat names what it repeats."""
    stand = await Stand.at(embedded, task_queue)
    asks = [
        stand.ask("local.read", "named", "fail", "return", step="look it up"),
        stand.ask("local.read", "counted"),
        stand.ask("local.read", "counted"),
    ]
    async with stand.worker():
        handle = await stand.start(*asks)
        named, first, second = await handle.result()

    origin = await original_run_id(stand.client, handle.id)
    expected = documented(handle.id, origin, "look it up")
    assert [entry[:2] for entry in entries(asks[0])] == [expected] * 2
    assert (named.execution_id, named.idempotency_key) == expected
    steps = await stand.steps(handle)
    assert steps[0] == steps[1] == "look it up"
    assert [entry[:2] for entry in entries(asks[1])] == [
        documented(handle.id, origin, step) for step in steps[2:]
    ]
    assert [step.rpartition("-")[2] for step in steps[2:]] == ["1", "2"]
    assert (first.repeat_of, second.repeat_of) == (None, first.execution_id)


async def test_g5_a_local_read_keeps_its_key_over_resets_and_workflow_retries(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """It runs again, which a read may, under the same key; what continues as new has another."""
    stand = await Stand.at(embedded, task_queue)
    retried, rewound, continued = [
        stand.ask("local.read", name) for name in ("retried", "rewound", "continued")
    ]
    async with stand.worker():
        handle = await stand.start(
            id_=f"{task_queue}-1", plan=Plan(asks=(retried,), fails=1), retry_policy=TWICE
        )
        (envelope,) = await handle.result()
        key = await key_of(stand, handle)
        assert [entry[:2] for entry in entries(retried)] == [key] * 2
        assert envelope.execution_id == key[0]

        handle = await stand.start(rewound, id_=f"{task_queue}-2")
        (before,) = await handle.result()
        run_id = await reset_to_start(stand.client, handle.id, str(handle.first_execution_run_id))
        assert await stand.run_of(handle, run_id).result() == [before]
        assert [entry[:2] for entry in entries(rewound)] == [await key_of(stand, handle)] * 2

        handle = await stand.start(id_=f"{task_queue}-3", plan=Plan(asks=(continued,), again=1))
        await handle.result()
        assert len({entry[1] for entry in entries(continued)}) == 2


async def key_of(stand: Stand, handle: Handle) -> tuple[str, str]:
    """Execution id and key of the one step of a workflow, by its first run."""
    (step,) = await stand.steps(handle)
    return documented(handle.id, str(handle.first_execution_run_id), step)
