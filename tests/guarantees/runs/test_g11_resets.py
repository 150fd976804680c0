"""A write that had begun is not begun again by a reset (G11). Effects are counted in the books."""

import pytest
from temporalio.client import Client

from temperance import Completed, Failed, MemorySink
from tests.guarantees.runs.books import Books
from tests.guarantees.runs.jobs import Act, Ask, Plan
from tests.guarantees.runs.rewinding import (
    answers,
    ask,
    finish,
    reset_to_start,
    scheduled,
    start,
    worker,
)
from tests.guarantees.runs.workflows import After, Answers, Before, Foreign, Script

REFUSED = ("failed", "RESET_FORBIDDEN", "possible")


def ended(envelope: object) -> tuple[str, str, str]:
    """Status, code and effect of an envelope without an output."""
    assert isinstance(envelope, Failed)
    return envelope.status, envelope.code, envelope.effect


async def twice(client: Client, queue: str, *asks: Ask) -> tuple[str, str, Answers, Answers]:
    """Runs a script, and once more after a reset to its start: both runs, and both answers."""
    handle = await start(client, queue, Plan(asks=asks, hold=True))
    first = str(handle.first_execution_run_id)
    before = await answers(client, queue, first, len(asks))
    second = await reset_to_start(client, queue, first)
    return first, second, before, await answers(client, queue, second, len(asks))


async def test_g11_a_write_that_completed_gives_its_recorded_result_after_a_reset(
    desk: Client, task_queue: str, books: Books, events: MemorySink
) -> None:
    """No handler, one effect, the same envelope, and no second word in the record.

    The execution is the same one, so the event that closes its trail is there already.
    """
    async with worker(desk, task_queue):
        first, _, before, after = await twice(desk, task_queue, ask("write", "w"))

    assert after == before
    assert isinstance(after[0], Completed)
    assert [entry.run_id for entry in books.entries("w")] == [first]
    assert events.types(after[0].execution_id) == [
        "capability.requested",
        "capability.started",
        "capability.completed",
    ]


async def test_g11_a_reset_into_changed_code_repeats_no_write(
    desk: Client, task_queue: str, books: Books
) -> None:
    """A call stands before the others, and they changed places: only the new one runs."""
    async with worker(desk, task_queue, Before):
        handle = await desk.start_workflow(
            Before.run, "runs.write", id=task_queue, task_queue=task_queue
        )
        before: Answers = await handle.result()
    await reset_to_start(desk, task_queue, str(handle.first_execution_run_id))
    async with worker(desk, task_queue, After):
        deployed = desk.get_workflow_handle(task_queue, result_type=Answers)
        inserted, *after = await deployed.result()

    assert after == before
    assert [entry.label for entry in books.entries()] == ["first", "second", "inserted"]
    assert isinstance(inserted, Completed)


@pytest.mark.parametrize(
    "begun",
    [("write", "raise"), ("write", "decline"), ("write", "huge"), ("brief_write", "wait")],
)
async def test_g11_a_write_that_failed_after_it_began_is_refused_after_a_reset(
    desk: Client, task_queue: str, books: Books, events: MemorySink, begun: tuple[str, Act]
) -> None:
    """An exception, a declared error, an output that cannot be carried, a timeout: begun is begun.

    The refusal is recorded in the trail as what happened in the new run.
    """
    async with worker(desk, task_queue):
        first, second, before, after = await twice(desk, task_queue, ask(begun[0], "w", begun[1]))

    assert isinstance(before[0], Failed)
    assert ended(after[0]) == REFUSED
    assert after[0].execution_id == before[0].execution_id
    assert [entry.run_id for entry in books.entries("w")] == [first]
    closing = [event for event in events.events if event.type == "capability.failed"]
    assert [(event.run_id, event.error_code) for event in closing] == [
        (first, before[0].code),
        (second, "RESET_FORBIDDEN"),
    ]
    assert closing[0].execution_id == closing[1].execution_id


async def test_g11_a_write_that_was_never_scheduled_runs_after_a_reset(
    desk: Client, task_queue: str, books: Books
) -> None:
    """The first run was rewound before it asked for the second write: that one is new.

    It is given time to read the histories, on top of its own.
    """
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, Plan(asks=(ask("write", "a", step="a"),), hold=True))
        first = str(handle.first_execution_run_id)
        await answers(desk, task_queue, first, 1)
        second = await reset_to_start(desk, task_queue, first)
        await answers(desk, task_queue, second, 1)
        await handle.signal(Script.ask, ask("write", "b", step="b"))
        done = await finish(desk, task_queue)

    assert [envelope.status for envelope in done] == ["completed", "completed"]
    assert [entry.run_id for entry in books.entries("b")] == [second]
    assert len(books.entries("a")) == 1
    backstops = [
        (await scheduled(desk, task_queue, run_id, step))
        .activity_task_scheduled_event_attributes.start_to_close_timeout.ToTimedelta()
        .total_seconds()
        for run_id, step in ((first, "a"), (second, "b"))
    ]
    assert backstops == [7.5, 17.5]


@pytest.mark.parametrize(("act", "entries"), [("return", 1), ("raise", 1)])
async def test_g11_a_reset_of_a_reset_is_asked_about_all_runs_before(
    desk: Client, task_queue: str, books: Books, act: Act, entries: int
) -> None:
    """The third run follows the chain of resets to what the first one did."""
    async with worker(desk, task_queue):
        first, second, before, _ = await twice(desk, task_queue, ask("write", "w", act))
        third = await reset_to_start(desk, task_queue, second)
        (envelope,) = await answers(desk, task_queue, third, 1)

    if act == "return":
        assert [envelope] == before
    else:
        assert ended(envelope) == REFUSED
    assert [entry.run_id for entry in books.entries("w")] == [first] * entries


async def test_g11_a_run_that_was_reset_away_beside_the_chain_counts_too(
    desk: Client, task_queue: str, books: Books
) -> None:
    """One run is reset twice: the write was in its first successor, to which no link leads.

    The workflow id has a quote in it, as ids may.
    """
    id_ = f"{task_queue}'s"
    async with worker(desk, task_queue):
        handle = await start(desk, task_queue, Plan(hold=True), id_)
        first = str(handle.first_execution_run_id)
        second = await reset_to_start(desk, id_, first)
        await handle.signal(Script.ask, ask("write", "w", step="w"))
        before = await answers(desk, id_, second, 1)
        third = await reset_to_start(desk, id_, first)
        await handle.signal(Script.ask, ask("write", "w", step="w"))
        after = await answers(desk, id_, third, 1)

    assert after == before
    assert [entry.run_id for entry in books.entries("w")] == [second]


async def test_g11_where_the_runs_of_a_workflow_cannot_be_listed_a_write_is_refused(
    desk: Client, task_queue: str, books: Books
) -> None:
    """This server's listing does not find ids with a double quote: nothing is guessed.

    Foreign code that allows a second and a half, so that the listing is not waited for longer.
    """
    id_ = f'{task_queue} "quoted"'
    async with worker(desk, task_queue):
        handle = await desk.start_workflow(
            Foreign.run,
            Plan(asks=(ask("brief_write", "w", "raise", step="w"),), patience=1.5),
            id=id_,
            task_queue=task_queue,
        )
        assert await handle.result() == ["EXECUTION_FAILED"]
        second = await reset_to_start(desk, id_, str(handle.first_execution_run_id))
        again = desk.get_workflow_handle(id_, run_id=second)
        assert await again.result() == ["RESET_FORBIDDEN"]

    assert len(books.entries()) == 1


async def test_g11_a_write_that_foreign_code_scheduled_is_asked_about_as_well(
    desk: Client, task_queue: str, books: Books
) -> None:
    """It carries no original run id: the activity reads that from the server, and then the rest."""
    plan = Plan(
        asks=(ask("brief_write", "w", step="w"), ask("brief_write", "f", "raise", step="f"))
    )
    async with worker(desk, task_queue):
        handle = await desk.start_workflow(Foreign.run, plan, id=task_queue, task_queue=task_queue)
        before = await handle.result()
        first = str(handle.first_execution_run_id)
        second = await reset_to_start(desk, task_queue, first)
        after = await desk.get_workflow_handle(task_queue, run_id=second).result()

    assert before[1:] == ["EXECUTION_FAILED"]
    assert after == [before[0], "RESET_FORBIDDEN"]
    assert [entry.run_id for entry in books.entries()] == [first, first]
