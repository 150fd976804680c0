"""G11 with questions: a reset repeats no write, in whichever series it was begun."""

import pytest
from temporalio.client import WorkflowHandle
from temporalio.common import RetryPolicy

from temperance import Completed
from tests.guarantees.reconcile.house import House
from tests.guarantees.reconcile.payments import Act, Payment
from tests.guarantees.reconcile.workflows import Answer, Pays, Retried
from tests.guarantees.runs.rewinding import reset_before, reset_to_start
from tests.support.waiting import wait_until


async def held(house: House, capability: str, payment: Payment) -> WorkflowHandle[Pays, Answer]:
    """A payment that was answered, in a workflow that can still be reset."""
    handle = await house.client.start_workflow(
        Pays.run, args=[capability, payment, True], id=house.queue, task_queue=house.queue
    )
    await answered(handle)
    return handle


async def answered(handle: WorkflowHandle[Pays, Answer]) -> Answer:
    """Its answer, once it is there."""
    answers: list[Answer] = []

    async def given() -> bool:
        answers[:] = await handle.query(Pays.answers)
        return bool(answers)

    await wait_until(given)
    return answers[0]


async def rewound(house: House, run_id: str) -> Answer:
    """The answer of the run that a reset started."""
    handle: WorkflowHandle[Pays, Answer] = house.client.get_workflow_handle(
        house.queue, run_id=run_id
    )
    answer = await answered(handle)
    await handle.signal(Pays.finish)
    return answer


@pytest.mark.parametrize("act", ["raise after", "hang after", "hang before"])
async def test_g11_a_reset_settles_what_an_earlier_run_left_unknown(house: House, act: Act) -> None:
    """RESET_FORBIDDEN is asked about as well: one effect, and the same execution."""
    async with house.serving():
        handle = await held(house, "pay.again", Payment(label="a", act=act))
        before = await answered(handle)
        second = await reset_to_start(house.client, house.queue, str(handle.first_execution_run_id))
        after = await rewound(house, second)

    assert isinstance(before, Completed)
    assert isinstance(after, Completed)
    assert after.execution_id == before.execution_id
    assert (after.reconciled, after.errors) == ("happened", ("RESET_FORBIDDEN",))
    assert house.gateway.charges("a") == [before.idempotency_key]


async def test_g11_a_reset_into_the_second_series_does_not_begin_it_again(house: House) -> None:
    """It completed there: its recorded result is the answer, with all attempts counted."""
    async with house.serving():
        handle = await held(house, "pay.again", Payment(label="a", act="raise before"))
        before = await answered(handle)
        first = str(handle.first_execution_run_id)
        second = await reset_before(house.client, house.queue, first, "pay:again-2")
        after = await rewound(house, second)

    assert after == before
    assert (after.status, after.attempts) == ("completed", 2)
    assert len(house.gateway.charges("a")) == 1
    assert house.gateway.attempts("a") == [1, 2]


async def test_g11_a_second_series_that_may_have_begun_is_asked_about_and_not_begun_again(
    house: House,
) -> None:
    """It runs, or has ended unknown, when the reset comes: the effect stays one."""
    payment = Payment(label="a", act="raise before", then="hang after")
    async with house.serving():
        handle = await house.client.start_workflow(
            Pays.run, args=["pay.again", payment, True], id=house.queue, task_queue=house.queue
        )

        async def begun() -> bool:
            return bool(house.gateway.charges("a"))

        await wait_until(begun)
        first = str(handle.first_execution_run_id)
        second = await reset_before(house.client, house.queue, first, "pay:again-2")
        after = await rewound(house, second)

    assert isinstance(after, Completed)
    assert (after.reconciled, after.attempts) == ("happened", 2)
    assert after.errors == ("EXECUTION_FAILED", "RESET_FORBIDDEN")
    assert house.gateway.charges("a") == [after.idempotency_key]
    assert house.gateway.attempts("a") == [1, 2]


async def test_g11_a_reset_between_write_and_question_asks_again(house: House) -> None:
    """The question is a read: it may run as often as it is asked."""
    async with house.serving():
        handle = await held(house, "pay.charge", Payment(label="a", act="raise after"))
        first = str(handle.first_execution_run_id)
        second = await reset_before(house.client, house.queue, first, "pay:reconcile-1")
        after = await rewound(house, second)

    assert after.reconciled == "happened"
    assert len(house.gateway.questions("a")) == 2
    assert len(house.gateway.charges("a")) == 1


async def test_g11_a_workflow_retry_settles_what_the_attempt_before_left_unknown(
    house: House,
) -> None:
    """The key is that of the first attempt, for the write and for the question."""
    async with house.serving():
        answer = await house.client.execute_workflow(
            Retried.run,
            args=["pay.charge", Payment(label="a", act="raise after")],
            id=house.queue,
            task_queue=house.queue,
            retry_policy=RetryPolicy(maximum_attempts=2),
        )
    assert (answer.reconciled, answer.effect) == ("happened", "done")
    assert house.gateway.charges("a") == [answer.idempotency_key]
    assert set(house.gateway.questions("a")) == {answer.idempotency_key}
