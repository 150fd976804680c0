"""The other doors: approvals, single requests, in process; and names that are not the caller's."""

import asyncio

import pytest

from temperance import (
    Actor,
    Approvals,
    Completed,
    Failed,
    Runtime,
    TemperanceClient,
)
from tests.guarantees.reconcile.house import House
from tests.guarantees.reconcile.payments import Act, Payment, again, approved, charge, retried
from tests.guarantees.reconcile.workflows import ADA, Misnames, output
from tests.support.waiting import wait_until

GRACE = Actor(id="grace")


@pytest.mark.parametrize(("act", "attempts"), [("raise after", 1), ("raise before", 2)])
async def test_g3_what_was_approved_is_settled_and_executed_once(
    house: House, act: Act, attempts: int
) -> None:
    """The approval asks by itself; run again, it is the one execution that was approved."""
    approvals = Approvals(house.client)
    async with house.serving():
        paying = asyncio.ensure_future(house.pays(approved.id, Payment(label="a", act=act)))
        pending: list[str] = []

        async def asked() -> bool:
            pending[:] = [
                found.id
                async for found in approvals.list("pending", capability=approved.id)
                if found.workflow_id == f"{house.queue}-a"
            ]
            return bool(pending)

        await wait_until(asked)
        await approvals.approve(pending[0], approver=GRACE)
        answer = await paying

    assert isinstance(answer, Completed)
    assert (answer.attempts, answer.effect) == (attempts, "done")
    assert house.gateway.charges("a") == [answer.idempotency_key]


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
        absent = await client.invoke(again, Payment(label="b", act="hang before"))
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
    # The request is at its end: nothing runs it again, whatever the metadata says.
    assert isinstance(absent, Failed)
    assert (absent.code, absent.effect, absent.reconciled) == ("TIMEOUT", "none", "did_not_happen")
    assert house.gateway.attempts("b") == [1]
    assert (unclear.effect, unclear.reconciled) == ("possible", "unknown")


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
