"""A write whose worker died is settled, and so is one whose question was lost with its worker."""

import asyncio

from temperance import Completed, Event, Failed
from tests.conftest import StartWorker
from tests.guarantees.reconcile.house import House
from tests.guarantees.reconcile.payments import Payment
from tests.guarantees.reconcile.workflows import Answer
from tests.support.waiting import wait_until

WORKER = "tests.guarantees.reconcile.worker"


async def pays_with_workers(
    house: House, worker_process: StartWorker, capability: str, payment: Payment
) -> Answer:
    """One payment; a worker that dies of it is replaced."""
    host = house.client.service_client.config.target_host
    paying = asyncio.ensure_future(house.pays(capability, payment))
    while not paying.done():
        worker = await worker_process(WORKER, host, house.queue, str(house.gateway.folder))
        ended = asyncio.ensure_future(worker.wait())
        await asyncio.wait({paying, ended}, return_when=asyncio.FIRST_COMPLETED)
        if not ended.done():
            worker.kill()
            await ended
    return await paying


async def test_g2_a_write_whose_worker_died_after_the_effect_is_completed(
    house: House, worker_process: StartWorker
) -> None:
    """Nobody told the server how it ended; the gateway does."""
    payment = Payment(label="a", act="die after")
    answer = await pays_with_workers(house, worker_process, "pay.again", payment)
    assert isinstance(answer, Completed)
    assert (answer.reconciled, answer.errors) == ("happened", ("TIMEOUT",))
    assert house.gateway.charges("a") == [answer.idempotency_key]
    assert house.gateway.attempts("a") == [1]


async def test_g5_a_write_whose_worker_died_before_the_effect_is_run_again_under_its_key(
    house: House, worker_process: StartWorker
) -> None:
    """One effect, by the second series."""
    payment = Payment(label="a", act="die before")
    answer = await pays_with_workers(house, worker_process, "pay.again", payment)
    assert isinstance(answer, Completed)
    assert (answer.attempts, answer.errors) == (2, ("TIMEOUT",))
    assert house.gateway.charges("a") == [answer.idempotency_key]
    assert house.gateway.entries("a") == [answer.idempotency_key] * 2


async def test_g2_a_write_whose_worker_died_is_told_not_to_have_happened(
    house: House, worker_process: StartWorker
) -> None:
    """Without `run_again`; the trail ends with what was found out."""
    payment = Payment(label="a", act="die before")
    answer = await pays_with_workers(house, worker_process, "pay.charge", payment)
    assert isinstance(answer, Failed)
    assert (answer.code, answer.effect, answer.reconciled) == ("TIMEOUT", "none", "did_not_happen")
    assert house.gateway.charges("a") == []
    lines = house.gateway.audit_path.read_text().splitlines()
    assert '"type":"capability.failed"' in lines[-2]
    assert '"verdict":"did_not_happen"' in lines[-1]


async def test_g1_a_question_whose_worker_died_is_asked_again(
    house: House, worker_process: StartWorker
) -> None:
    """It is a read, with attempts of its own."""
    payment = Payment(label="a", act="raise after", reply="die once")
    answer = await pays_with_workers(house, worker_process, "pay.charge", payment)
    assert answer.reconciled == "happened"
    assert len(house.gateway.questions("a")) == 2
    assert house.gateway.charges("a") == [answer.idempotency_key]


async def test_g4_two_series_whose_workers_died_are_each_on_record_once(
    house: House, worker_process: StartWorker
) -> None:
    """Neither worker told anything; the second end has an id of its own."""
    payment = Payment(label="a", act="die twice before")
    answer = await pays_with_workers(house, worker_process, "pay.again", payment)
    assert isinstance(answer, Failed)
    assert (answer.attempts, answer.errors) == (2, ("TIMEOUT",))
    assert (answer.effect, answer.reconciled) == ("none", "did_not_happen")
    assert house.gateway.attempts("a") == [1, 2]
    lines = house.gateway.audit_path.read_text().splitlines()
    events = {event.event_id: event for event in map(Event.model_validate_json, lines)}
    told = [(event.type.partition(".")[2], event.attempt) for event in events.values()]
    one = ["started", "failed", "reconciled"]
    assert told == [
        ("requested", 1),
        *((type_, 1) for type_ in one),
        ("retried", 2),
        *((type_, 2) for type_ in one),
    ]


async def test_g1_a_write_that_its_worker_gave_up_when_it_shut_down_is_settled(
    house: House,
) -> None:
    """By the next worker."""
    payment = Payment(label="a", act="hang after")
    async with house.serving():
        paying = asyncio.ensure_future(house.pays("pay.charge", payment))

        async def charged() -> bool:
            return bool(house.gateway.charges("a"))

        await wait_until(charged)
    async with house.serving():
        answer = await paying
    assert isinstance(answer, Completed)
    assert (answer.reconciled, answer.attempts) == ("happened", 1)
    assert house.gateway.charges("a") == [answer.idempotency_key]
