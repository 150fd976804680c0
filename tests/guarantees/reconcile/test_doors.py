"""The other doors: approvals, single requests, in process; and names that are not the caller's."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest
from temporalio.client import ActivityFailureError
from temporalio.common import RawValue, RetryPolicy
from temporalio.exceptions import ApplicationError

from temperance import (
    Actor,
    Approvals,
    Completed,
    Runtime,
    TemperanceClient,
)
from temperance.runtime.messages import Ask
from temperance.runtime.series import Series
from temperance.single_request import raw_value
from tests.guarantees.reconcile.house import House
from tests.guarantees.reconcile.payments import Act, Payment, again, charge, retried
from tests.guarantees.reconcile.workflows import ADA, Misnames, output
from tests.guarantees.runs.rewinding import reset_to_start

EVE = Actor(id="eve")
GRACE = Actor(id="grace")


@pytest.mark.parametrize(("act", "attempts"), [("raise after", 1), ("raise before", 2)])
async def test_g3_what_was_approved_is_settled_and_executed_once_also_where_it_is_rewound(
    house: House, act: Act, attempts: int
) -> None:
    """The approval asks by itself; run again, it is the one execution that was approved."""
    approvals = Approvals(house.client)
    async with house.serving():
        answer, approval = await house.pays_when_approved(Payment(label="a", act=act), GRACE)
        # Rewound, it applies its decision again: the write may have begun, and is asked about.
        handle = house.client.get_workflow_handle(approval)
        run_id = (await handle.describe()).run_id
        await reset_to_start(house.client, approval, run_id)
        rewound = await approvals.outcome(approval)

    assert isinstance(answer, Completed)
    assert (answer.attempts, answer.effect) == (attempts, "done")
    assert isinstance(rewound, Completed)
    assert (rewound.execution_id, rewound.reconciled) == (answer.execution_id, "happened")
    assert "RESET_FORBIDDEN" in rewound.errors
    assert house.gateway.charges("a") == [answer.idempotency_key]
    assert len(house.gateway.entries("a")) == attempts


async def test_g1_a_single_request_is_settled_by_its_client(house: House) -> None:
    """By a standalone activity that is given the execution's own key."""
    client = TemperanceClient(house.client, house.app, actor=ADA, task_queue=house.queue)
    async with house.serving():
        happened = await client.invoke(
            charge, Payment(label="a", act="raise after"), request_id=house.queue
        )
        same = await client.invoke(
            charge, Payment(label="a", act="raise after"), request_id=house.queue
        )
        unclear = await client.invoke(charge, Payment(label="c", act="raise after", reply="raise"))

    assert isinstance(happened, Completed)
    assert happened.reconciled == "happened"
    assert output(happened).key == happened.idempotency_key
    assert same == happened
    assert house.gateway.charges("a") == [happened.idempotency_key]
    assert house.trail(happened.execution_id)[:4] == [
        "requested",
        "started",
        "failed",
        "reconciled",
    ]
    assert (unclear.effect, unclear.reconciled) == ("possible", "unknown")


async def test_g5_a_single_request_that_did_not_happen_is_run_once_more(house: House) -> None:
    """Under its key, also where it is sent twice at once, or again afterwards."""
    client = TemperanceClient(house.client, house.app, actor=ADA, task_queue=house.queue)
    payment = Payment(label="a", act="hang before")
    async with house.serving():
        first, second = await asyncio.gather(
            client.invoke(again, payment, request_id=house.queue),
            client.invoke(again, payment, request_id=house.queue),
        )
        third = await client.invoke(again, payment, request_id=house.queue)
        only_told = await client.invoke(charge, Payment(label="b", act="raise before"))
        twice = await client.invoke(again, Payment(label="c", act="hang twice before"))

    assert isinstance(first, Completed)
    assert first == second == third
    assert (first.attempts, first.errors) == (2, ("TIMEOUT",))
    assert house.gateway.charges("a") == [first.idempotency_key]
    assert house.gateway.entries("a") == [first.idempotency_key] * 2
    assert house.gateway.attempts("a") == [1, 2]
    one = ["started", "failed", "reconciled"]
    trail = house.trail(first.execution_id)
    assert trail == ["requested", *one, "retried", "started", "completed"]
    assert (only_told.effect, only_told.reconciled) == ("none", "did_not_happen")
    assert house.gateway.attempts("b") == [1]
    assert (twice.attempts, twice.effect, twice.reconciled) == (2, "none", "did_not_happen")
    assert house.trail(twice.execution_id) == ["requested", *one, "retried", *one]


@pytest.mark.parametrize("lie", ["completed", "another input", "another requester", "nothing"])
async def test_g5_no_request_is_given_the_key_of_one_that_it_does_not_continue(
    house: House, lie: str
) -> None:
    """Whoever may start activities can say so: the server is asked whether it is true."""
    client = TemperanceClient(house.client, house.app, actor=ADA, task_queue=house.queue)
    act: Act = "return" if lie == "completed" else "raise before"
    payment = Payment(label="a", act=act)
    async with house.serving():
        await client.invoke(charge, payment, request_id=house.queue)
        described = await house.client.get_activity_handle(house.queue).describe()
        run_id = described.activity_run_id if lie != "nothing" else str(uuid4())
        ask = Ask(
            actor=EVE if lie == "another requester" else ADA,
            surface="direct",
            series=Series(house.queue, 2, 1, ("TIMEOUT",), run_id),
        )
        sent = payment.model_copy(update={"then": "decline"} if lie == "another input" else {})
        with pytest.raises(ActivityFailureError) as failure:
            await house.client.execute_activity(
                charge.id,
                args=[sent, raw_value(ask.to_json())],
                id=f"{house.queue}:again-2",
                task_queue=house.queue,
                start_to_close_timeout=timedelta(seconds=5),
                retry_policy=RetryPolicy(maximum_attempts=1),
                result_type=RawValue,
            )
    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.type == "RETRY_FORBIDDEN"
    assert len(house.gateway.entries("a")) == 1


async def test_g1_in_process_the_same_rules_hold(house: House) -> None:
    """Settled, run again once under one key, each series with its own attempts."""
    runtime = Runtime(house.app)
    happened = await runtime.invoke(charge, Payment(label="a", act="raise after"), actor=ADA)
    rerun = await runtime.invoke(again, Payment(label="b", act="raise before"), actor=ADA)
    series = await runtime.invoke(retried, Payment(label="c", act="raise thrice before"), actor=ADA)
    declined = await runtime.invoke(again, Payment(label="d", act="decline"), actor=ADA)
    unclear = await runtime.invoke(
        again, Payment(label="e", act="raise after", reply="unknown"), actor=ADA
    )

    assert (happened.reconciled, happened.effect) == ("happened", "done")
    assert (rerun.status, rerun.attempts) == ("completed", 2)
    assert house.gateway.entries("b") == [rerun.idempotency_key] * 2
    assert (series.status, series.attempts) == ("completed", 4)
    assert (declined.effect, declined.reconciled) == ("none", "did_not_happen")
    assert (unclear.effect, unclear.reconciled) == ("possible", "unknown")
    assert house.trail(rerun.execution_id) == [
        "requested",
        "started",
        "failed",
        "reconciled",
        "retried",
        "started",
        "completed",
    ]


@pytest.mark.parametrize("step", ["pay:again-2", "pay:reconcile-1"])
async def test_g5_nobody_can_give_a_step_the_name_of_a_series(house: House, step: str) -> None:
    """Neither a workflow's step nor a client's request: it could be given another's key."""
    async with house.serving():
        refusal = await house.client.execute_workflow(
            Misnames.run, step, id=house.queue, task_queue=house.queue
        )
    assert "the library makes" in refusal
    client = TemperanceClient(house.client, house.app, actor=ADA, task_queue=house.queue)
    with pytest.raises(ValueError, match="the library makes"):
        await client.invoke(charge, Payment(label="a"), request_id=step)
