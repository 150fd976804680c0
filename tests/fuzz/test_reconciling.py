"""`reconcile` functions that raise, answer or wait for anything: the envelope stays a true one."""

import asyncio
import contextlib
from base64 import b64encode
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from temperance import App, Completed, Failed, Governance, MemorySink, Retry, Runtime
from temperance.runtime.event import TERMINAL
from temperance.runtime.reconcile import (
    Happened,
    Reconcile,
    Unknown,
    did_not_happen,
    happened,
    unknown,
)
from tests.fuzz.budget import budget
from tests.fuzz.faults import FAULTS
from tests.fuzz.judging import ADA, Door, bounded
from tests.fuzz.objects import ANYTHING
from tests.fuzz.orders import SOON, Order, Slip, one
from tests.fuzz.secret import SECRET, leaks, listening
from tests.fuzz.stage import SINK, STAGE, Play, Theatre, written
from tests.fuzz.workflows import Asking, Wish

Make = Callable[[], BaseException]
WAYS = st.sampled_from(["raises", "answers", "raises later", "never", "deaf", "thread"])
ANSWERS = (
    st.builds(did_not_happen)
    | st.builds(unknown)
    | st.builds(happened, ANYTHING)
    | st.builds(happened, st.builds(Slip, card=st.just(SECRET)))
    | ANYTHING
)
BEHAVIOUR = st.tuples(WAYS, FAULTS, ANSWERS)


def function_of(way: str, make: Make, answer: object) -> Callable[..., Any]:
    """A `reconcile` function that behaves as drawn."""

    async def find_out(input: Order) -> object:
        if way == "raises":
            raise make()
        await asyncio.sleep(0)
        if way == "raises later":
            raise make()
        if way == "never":
            await asyncio.Event().wait()
        if way == "deaf":
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
        return answer

    def in_thread(input: Order) -> object:
        if answer is None:
            raise make()
        return answer

    return in_thread if way == "thread" else find_out


@budget()
@given(BEHAVIOUR, st.booleans())
async def test_whatever_reconcile_does_the_envelope_says_what_is_known(
    behaviour: tuple[str, Make, object], run_again: bool
) -> None:
    """Completed only where it answered with an output that fits; a secret is told nowhere."""
    door, sink = Door(), MemorySink()

    async def handler(input: Order) -> Slip:
        door.entered += 1
        raise ConnectionError(SECRET)

    reconcile = Reconcile(
        function_of(*behaviour),
        retry=Retry(max_retries=1, backoff=timedelta(0)),
        timeout=SOON,
        run_again=run_again,
    )
    app = App(Governance([one(handler, reconcile=reconcile)]), sinks=[sink])
    with listening() as lines:
        envelope = await bounded(Runtime(app).invoke("fuzz.one", {}, actor=ADA, surface="agent"))
    _judge(envelope, behaviour)
    assert door.entered in {1, 2}
    assert (door.entered == 2) <= run_again
    told = [str(envelope.to_dict()), *lines, *(entry.model_dump_json() for entry in sink.events)]
    assert leaks(told) == []
    assert "capability.reconciled" in sink.types()


def _judge(envelope: Any, behaviour: tuple[str, Make, object]) -> None:
    assert isinstance(envelope, Completed | Failed)
    if isinstance(envelope, Completed):
        assert (envelope.effect, envelope.reconciled) == ("done", "happened")
        assert isinstance(behaviour[2], type(happened(1)))
        return
    expected = {"did_not_happen": "none", "unknown": "possible"}
    assert envelope.effect == expected[str(envelope.reconciled)]


@budget(0.5)
@given(BEHAVIOUR)
async def test_g10_whatever_reconcile_does_on_a_worker_nothing_of_a_secret_is_in_history(
    theatre: Theatre, behaviour: tuple[str, Make, object]
) -> None:
    """And the workflow gets the same envelope as in process."""

    def fail(_: object) -> object:
        raise ConnectionError(SECRET)

    STAGE.play = Play(handler=fail, reconcile=function_of(*behaviour))
    wish = Wish(capability="fuzz.settled", data=b64encode(b"{}").decode())
    with listening() as lines:
        handle = await theatre.client.start_workflow(
            Asking.run, wish, id=f"fuzz-{uuid4().hex}", task_queue=theatre.queue
        )
        answer = await bounded(handle.result())
    events = [entry for entry in SINK.events if entry.execution_id == answer["execution_id"]]
    told = [str(answer), *lines, *(entry.model_dump_json() for entry in events)]
    assert leaks([*told, *await written(handle)]) == []
    assert sum(entry.type in TERMINAL for entry in events) == 1
    assert "capability.reconciled" in [entry.type for entry in events]
    if answer["status"] == "failed":
        expected = {"did_not_happen": "none", "unknown": "possible"}
        assert answer["effect"] == expected[answer["reconciled"]]
    else:
        assert (answer["status"], answer["reconciled"]) == ("completed", "happened")


@pytest.mark.parametrize("error", [SystemExit, GeneratorExit, asyncio.CancelledError])
async def test_a_reconcile_that_would_end_the_process_leaves_the_effect_open(
    error: type[BaseException],
) -> None:
    """It went through the runtime, and what became of the write was not recorded."""
    door, sink = Door(), MemorySink()

    async def handler(input: Order) -> Slip:
        door.entered += 1
        raise ConnectionError

    async def find_out(input: Order) -> Happened[Slip] | Unknown:
        raise error(SECRET)

    reconcile = Reconcile(find_out, retry=Retry(max_retries=1, backoff=timedelta(0)))
    app = App(Governance([one(handler, reconcile=reconcile)]), sinks=[sink])
    envelope = await bounded(Runtime(app).invoke("fuzz.one", {}, actor=ADA, surface="agent"))
    assert (envelope.effect, envelope.reconciled) == ("possible", "unknown")
    assert sink.types()[-2:] == ["capability.failed", "capability.reconciled"]
