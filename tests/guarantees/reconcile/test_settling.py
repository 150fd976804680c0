"""What became of a write is found out, and its envelope and record say so."""

import pytest
from temporalio.worker import Worker

from temperance import Completed, Failed, TemperancePlugin
from temperance.embedded import EmbeddedServer
from tests.guarantees.reconcile.house import House
from tests.guarantees.reconcile.payments import SECRET, Act, Payment, Reply, app_of, write
from tests.guarantees.reconcile.workflows import PaysAgain, PaysElsewhere, output
from tests.support.history import history_events


@pytest.mark.parametrize("act", ["hang after", "raise after"])
async def test_g1_a_write_that_happened_is_completed_with_its_output(
    house: House, act: Act
) -> None:
    """The gateway took the money and did not say so: one effect, one key, and the receipt."""
    async with house.serving():
        answer = await house.pays("pay.charge", Payment(label="a", act=act))

    assert isinstance(answer, Completed)
    assert (answer.effect, answer.reconciled, answer.attempts) == ("done", "happened", 1)
    assert answer.errors == ("TIMEOUT" if act == "hang after" else "EXECUTION_FAILED",)
    assert output(answer).key == answer.idempotency_key
    assert output(answer).card == ""
    assert house.gateway.charges("a") == house.gateway.questions("a") == [answer.idempotency_key]
    assert house.trail(answer.execution_id) == ["requested", "started", "failed", "reconciled"]
    last = house.events.events[-1]
    assert (last.verdict, last.effect, last.attempts) == ("happened", "done", 1)


async def test_g2_a_write_that_did_not_happen_is_told_and_not_run_again(house: House) -> None:
    """Unless its metadata says so, that is the caller's to decide."""
    async with house.serving():
        answer = await house.pays("pay.charge", Payment(label="a", act="raise before"))

    assert isinstance(answer, Failed)
    assert (answer.code, answer.effect) == ("EXECUTION_FAILED", "none")
    assert answer.reconciled == "did_not_happen"
    assert house.gateway.charges("a") == []
    assert house.gateway.attempts("a") == [1]
    assert house.trail(answer.execution_id) == ["requested", "started", "failed", "reconciled"]


async def test_g5_a_write_that_did_not_happen_is_run_once_more_under_its_key(house: House) -> None:
    """With `run_again`: another series of attempts of the same execution."""
    async with house.serving():
        answer = await house.pays("pay.again", Payment(label="a", act="hang before"))

    assert isinstance(answer, Completed)
    assert (answer.attempts, answer.errors) == (2, ("TIMEOUT",))
    assert answer.reconciled is None
    assert house.gateway.charges("a") == [answer.idempotency_key]
    assert house.gateway.entries("a") == [answer.idempotency_key] * 2
    assert house.gateway.attempts("a") == [1, 2]
    assert house.trail(answer.execution_id) == [
        "requested",
        "started",
        "failed",
        "reconciled",
        "retried",
        "started",
        "completed",
    ]
    ids = [event.event_id for event in house.events.events]
    assert len(set(ids)) == len(ids)


async def test_g2_each_series_of_an_idempotent_write_has_its_own_attempts(house: House) -> None:
    """Two attempts fail; it is asked about after the last, and the second series has two too."""
    payment = Payment(label="a", act="raise thrice before")
    async with house.serving():
        answer = await house.pays("pay.retried", payment)

    assert isinstance(answer, Completed)
    assert (answer.attempts, answer.errors) == (4, ("EXECUTION_FAILED",) * 3)
    assert len(house.gateway.questions("a")) == 1
    assert house.gateway.charges("a") == [answer.idempotency_key]
    assert house.gateway.attempts("a") == [1, 2, 3, 4]
    series = ["started", "failed", "reconciled", "retried", "started", "retried", "started"]
    assert house.trail(answer.execution_id) == [
        "requested",
        "started",
        "retried",
        *series,
        "completed",
    ]


async def test_g2_a_declared_refusal_is_not_run_again(house: House) -> None:
    """It is the handler's answer; that nothing happened is known all the same."""
    async with house.serving():
        answer = await house.pays("pay.again", Payment(label="a", act="decline"))

    assert isinstance(answer, Failed)
    assert (answer.error.reason, answer.effect) == ("DECLINED", "none")
    assert answer.reconciled == "did_not_happen"
    assert house.gateway.attempts("a") == [1]


@pytest.mark.parametrize(
    ("reply", "asked"), [("unknown", 3), ("raise", 3), ("hang", 3), ("nonsense", 3), ("invalid", 3)]
)
async def test_g7_where_it_cannot_be_found_out_the_effect_stays_possible(
    house: House, reply: Reply, asked: int
) -> None:
    """Asked as often as its retry says, each time bounded; nothing is run again."""
    payment = Payment(label="a", act="raise after", reply=reply)
    async with house.serving():
        answer = await house.pays("pay.again", payment)

    assert isinstance(answer, Failed)
    assert (answer.code, answer.effect, answer.reconciled) == (
        "EXECUTION_FAILED",
        "possible",
        "unknown",
    )
    assert house.gateway.questions("a") == [answer.idempotency_key] * asked
    assert house.gateway.charges("a") == [answer.idempotency_key]
    assert house.trail(answer.execution_id)[-1] == "reconciled"
    assert house.events.events[-1].verdict == "unknown"


@pytest.mark.parametrize(("reply", "asked"), [("later", 3), ("raise once", 2)])
async def test_g1_the_question_is_asked_until_it_is_answered(
    house: House, reply: Reply, asked: int
) -> None:
    """A gateway that is behind, or away for a moment."""
    payment = Payment(label="a", act="hang after", reply=reply)
    async with house.serving():
        answer = await house.pays("pay.charge", payment)

    assert answer.reconciled == "happened"
    assert len(house.gateway.questions("a")) == asked
    assert house.gateway.charges("a") == [answer.idempotency_key]


async def test_g10_nothing_that_the_question_meets_reaches_history(house: House) -> None:
    """Not what it raised, nor what it answered by mistake, nor what is redacted."""
    replies: list[Reply] = ["raise", "nonsense", "invalid", "truth"]
    async with house.serving():
        for reply in replies:
            payment = Payment(label=reply, act="raise after", reply=reply)
            await house.pays("pay.charge", payment)

    for reply in replies:
        for event in await history_events(house.client, f"{house.queue}-{reply}"):
            assert SECRET.encode() not in event.SerializeToString(), reply


async def test_g1_a_plain_function_may_answer_and_needs_no_context(house: House) -> None:
    """`reconcile=find`, and a `def` that runs in a thread."""
    async with house.serving():
        answer = await house.pays("pay.threaded", Payment(label="a", act="hang after"))
    assert (answer.reconciled, output(answer).label) == ("happened", "a")


async def test_g2_without_reconcile_nothing_more_is_scheduled(house: House) -> None:
    """And where it is declared, nothing more for a payment that went well."""
    async with house.serving():
        failed = await house.pays("pay.plain", Payment(label="a", act="raise after"))
        done = await house.pays("pay.charge", Payment(label="b"))
    assert (failed.effect, failed.reconciled) == ("possible", None)
    assert (done.effect, done.reconciled) == ("done", None)
    for label in ("a", "b"):
        scheduled = [
            event.activity_task_scheduled_event_attributes.activity_type.name
            for event in await history_events(house.client, f"{house.queue}-{label}")
            if event.HasField("activity_task_scheduled_event_attributes")
        ]
        assert len(scheduled) == 1
    assert house.gateway.questions("b") == []


async def test_g2_retry_on_says_which_failures_of_the_question_are_worth_another(
    house: House,
) -> None:
    """As for a handler; an answer that it is unknown is asked again all the same."""
    async with house.serving():
        raised = await house.pays(
            "pay.vetoed", Payment(label="a", act="raise after", reply="raise")
        )
        later = await house.pays("pay.vetoed", Payment(label="b", act="raise after", reply="later"))
    assert (raised.reconciled, len(house.gateway.questions("a"))) == ("unknown", 1)
    assert (later.reconciled, len(house.gateway.questions("b"))) == ("happened", 3)
    assert house.trail(raised.execution_id)[-1] == "reconciled"


async def test_g4_both_series_are_on_record_where_neither_was_seen_by_a_worker(
    house: House,
) -> None:
    """One request, and one end for each series, with an id of its own."""
    payment = Payment(label="a", act="hang twice before")
    async with house.serving():
        answer = await house.pays("pay.again", payment)

    assert isinstance(answer, Failed)
    assert (answer.attempts, answer.errors) == (2, ("TIMEOUT",))
    assert (answer.effect, answer.reconciled) == ("none", "did_not_happen")
    one = ["started", "failed", "reconciled"]
    assert house.trail(answer.execution_id) == ["requested", *one, "retried", *one]
    assert house.gateway.charges("a") == []


async def test_g4_a_question_that_no_worker_could_answer_is_on_record(
    house: House, embedded: EmbeddedServer
) -> None:
    """Workers of an older build, which do not know of it: the workflow has it recorded."""
    older = app_of(house.gateway, [house.events], [write("pay.charge")])
    client = await embedded.connect(plugins=[TemperancePlugin(older)])
    queue = f"{house.queue}-older"
    async with house.serving(), Worker(client, task_queue=queue):
        answer = await house.client.execute_workflow(
            PaysElsewhere.run,
            args=["pay.charge", Payment(label="a", act="raise after"), queue],
            id=house.queue,
            task_queue=house.queue,
        )

    assert (answer.effect, answer.reconciled) == ("possible", "unknown")
    assert house.trail(answer.execution_id) == ["requested", "started", "failed", "reconciled"]
    last = house.events.events[-1]
    assert (last.verdict, last.effect, last.error_code) == ("unknown", "possible", "INTERNAL_ERROR")
    assert house.gateway.questions("a") == []


async def test_g5_nobody_else_runs_again_what_did_not_happen(house: House) -> None:
    """It would be under another's name."""
    async with house.serving():
        answers = await house.client.execute_workflow(
            PaysAgain.run,
            args=["pay.charge", Payment(label="a", act="raise before"), "eve"],
            id=house.queue,
            task_queue=house.queue,
        )
    assert [isinstance(answer, str) for answer in answers] == [False, True, True]
    assert len(house.gateway.entries("a")) == 1


async def test_g2_a_write_that_goes_well_costs_no_event_and_no_byte_more(house: House) -> None:
    """Two capabilities whose ids are equally long; only one may be asked about and run again."""
    shapes: list[list[tuple[int, int]]] = []
    async with house.serving():
        for capability in ("pay.plain", "pay.again"):
            await house.pays(capability, Payment(label=capability))
            shapes.append(
                [
                    (event.event_type, event.activity_task_scheduled_event_attributes.ByteSize())
                    for event in await history_events(house.client, f"{house.queue}-{capability}")
                ]
            )
    assert shapes[0] == shapes[1]


async def test_g5_the_caller_may_run_again_what_did_not_happen_and_only_that(house: House) -> None:
    """Once for each time that it was asked about, with the same key."""

    async def twice(label: str, act: Act) -> list[object]:
        payment = Payment(label=label, act=act)
        return list(
            await house.client.execute_workflow(
                PaysAgain.run,
                args=["pay.charge", payment],
                id=f"{house.queue}-{label}",
                task_queue=house.queue,
            )
        )

    async with house.serving():
        first, second, third = await twice("a", "raise before")
        refused = await twice("b", "raise after")

    assert isinstance(first, Failed)
    assert isinstance(second, Completed)
    assert isinstance(third, str)
    assert "can be run again" in third
    assert (second.execution_id, second.attempts) == (first.execution_id, 2)
    assert house.gateway.charges("a") == [first.idempotency_key]
    assert house.trail(second.execution_id)[-3:] == ["retried", "started", "completed"]
    assert len(refused) == 1  # it completed: there is nothing to run again
    assert len(house.gateway.charges("b")) == 1
