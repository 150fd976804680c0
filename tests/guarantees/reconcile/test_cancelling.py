"""A caller that cancels waits to end: nothing is asked on its behalf any more (G7)."""

from temporalio.client import WorkflowHandle

from tests.guarantees.reconcile.house import House
from tests.guarantees.reconcile.payments import Payment
from tests.guarantees.reconcile.workflows import Answer, Pays
from tests.support.history import history_events
from tests.support.waiting import wait_until


async def cancelled_once(
    house: House, payment: Payment, capability: str, *, asked: bool
) -> tuple[Answer, list[str]]:
    """Cancels a payment when it was charged, or asked about; gives what was scheduled, too."""
    handle: WorkflowHandle[Pays, Answer] = await house.client.start_workflow(
        Pays.run, args=[capability, payment], id=house.queue, task_queue=house.queue
    )

    async def there() -> bool:
        label = payment.label
        return bool(house.gateway.questions(label) if asked else house.gateway.charges(label))

    await wait_until(there)
    await handle.cancel()
    answer = await handle.result()
    scheduled = [
        event.activity_task_scheduled_event_attributes.activity_id
        for event in await history_events(house.client, house.queue)
        if event.HasField("activity_task_scheduled_event_attributes")
    ]
    return answer, scheduled


async def test_g7_a_write_that_was_cancelled_is_not_asked_about(house: House) -> None:
    """Its envelope says that the effect is possible, and the workflow ends."""
    payment = Payment(label="a", act="hang after")
    async with house.serving():
        answer, scheduled = await cancelled_once(house, payment, "pay.unhurried", asked=False)
    assert (answer.status, answer.effect, answer.reconciled) == ("cancelled", "possible", None)
    assert scheduled == ["pay"]
    assert house.gateway.questions("a") == []
    [execution_id] = {event.execution_id for event in house.events.events}
    assert house.trail(execution_id) == ["requested", "started", "cancelled"]
    assert house.events.events[-1].effect == "possible"


async def test_g7_a_question_is_given_up_when_the_caller_cancels(house: House) -> None:
    """The write stays unknown, and is not run again."""
    payment = Payment(label="a", act="raise before", reply="hang")
    async with house.serving():
        answer, scheduled = await cancelled_once(house, payment, "pay.patient", asked=True)
    assert (answer.status, answer.effect, answer.reconciled) == ("failed", "possible", "unknown")
    assert scheduled == ["pay", "pay:reconcile-1"]
    assert len(house.gateway.entries("a")) == 1
