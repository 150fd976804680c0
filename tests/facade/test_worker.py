"""`run_worker`, as code uses it."""

import asyncio
import os
import signal
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import BaseModel
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from temperance import (
    Actor,
    App,
    ConfigurationError,
    Governance,
    TemperanceClient,
    TemperancePlugin,
    capability,
)
from temperance.embedded import EmbeddedServer
from temperance.worker import run_worker
from tests.support.waiting import wait_until


class Number(BaseModel):
    """A number."""

    number: int


@capability("sums.double", description="Double.", expose={"direct"}, side_effect="none", risk="low")
async def double(input: Number) -> Number:
    """Twice as much."""
    return Number(number=2 * input.number)


APP = App(Governance([double]))


async def twice(client: Client, task_queue: str) -> object:
    """What the worker answers."""
    asking = TemperanceClient(client, APP, actor=Actor(id="ada"), task_queue=task_queue)
    return (await asking.invoke(double, Number(number=21))).unwrap()


async def test_it_serves_until_the_event_is_set(embedded: EmbeddedServer, task_queue: str) -> None:
    """And returns when it is drained."""
    client = await embedded.connect(plugins=[TemperancePlugin(APP)])
    stop = asyncio.Event()
    worker = asyncio.ensure_future(run_worker(APP, client, task_queue=task_queue, stop=stop))
    assert await twice(client, task_queue) == Number(number=42)
    stop.set()
    await worker


async def test_a_signal_sets_a_given_event_too_and_the_old_handlers_come_back(
    embedded: EmbeddedServer, task_queue: str, tmp_path: Path
) -> None:
    """In the main thread, unless told not to."""
    client = await embedded.connect(plugins=[TemperancePlugin(APP)])
    before = signal.getsignal(signal.SIGTERM)
    ready = tmp_path / "ready"
    stop = asyncio.Event()
    worker = asyncio.ensure_future(
        run_worker(APP, client, task_queue=task_queue, stop=stop, ready_file=ready)
    )

    async def is_ready() -> bool:
        return await asyncio.to_thread(ready.exists)

    await wait_until(is_ready)
    os.kill(os.getpid(), signal.SIGTERM)
    await worker
    assert stop.is_set()
    assert signal.getsignal(signal.SIGTERM) is before


async def test_it_runs_outside_of_the_main_thread_where_signals_are_not_its_own(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Stopped by the event of its own loop."""
    answers: list[object] = []

    async def serve_there() -> None:
        client = await embedded.connect(plugins=[TemperancePlugin(APP)])
        stop = asyncio.Event()
        worker = asyncio.ensure_future(run_worker(APP, client, task_queue=task_queue, stop=stop))
        answers.append(await twice(client, task_queue))
        stop.set()
        await worker

    thread = threading.Thread(target=lambda: asyncio.run(serve_there()))
    thread.start()
    await asyncio.to_thread(thread.join)
    assert answers == [Number(number=42)]


async def test_a_caller_that_is_cancelled_leaves_a_drained_worker(
    embedded: EmbeddedServer, task_queue: str, tmp_path: Path
) -> None:
    """What runs is brought to its end first; the ready file is gone."""
    client = await embedded.connect(plugins=[TemperancePlugin(APP)])
    ready = tmp_path / "ready"
    worker = asyncio.ensure_future(
        run_worker(APP, client, task_queue=task_queue, ready_file=ready, signals=False)
    )
    assert await twice(client, task_queue) == Number(number=42)
    worker.cancel()
    with pytest.raises(asyncio.CancelledError):
        await worker
    assert not await asyncio.to_thread(ready.exists)


async def test_a_client_without_the_plugin_is_given_it_where_its_converter_will_do(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """Otherwise every reason is listed, and nothing starts."""
    plain = await Client.connect(embedded.target_host, data_converter=pydantic_data_converter)
    stop = asyncio.Event()
    worker = asyncio.ensure_future(run_worker(APP, plain, task_queue=task_queue, stop=stop))
    assert await twice(plain, task_queue) == Number(number=42)
    stop.set()
    await worker

    with pytest.raises(ConfigurationError, match="does not know pydantic"):
        await run_worker(APP, await embedded.connect(), task_queue=task_queue)


@pytest.mark.filterwarnings("ignore:The same plugin type:UserWarning")
async def test_two_applications_in_one_worker_are_refused(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """The second one's capabilities would silently not be served."""
    client = await embedded.connect(plugins=[TemperancePlugin(APP)])
    with pytest.raises(ConfigurationError, match="different applications meet in one worker"):
        await run_worker(App(Governance([double])), client, task_queue=task_queue)


async def test_what_is_no_workflow_is_listed_with_the_other_problems(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """The SDK would tell of the first one alone."""

    class Nothing:
        pass

    class NothingEither:
        pass

    app = App(Governance([double]), workflows=[Nothing, NothingEither])
    client = await embedded.connect(plugins=[TemperancePlugin(app)])
    with pytest.raises(ConfigurationError) as refused:
        await run_worker(app, client, task_queue=task_queue)
    assert [problem.split("'")[1] for problem in refused.value.problems] == [
        "Nothing",
        "NothingEither",
    ]


async def test_a_grace_period_is_positive(client: Client, task_queue: str) -> None:
    """The SDK takes zero for its own default, and the plugin for ours."""
    with pytest.raises(ValueError, match="give more than zero"):
        await run_worker(APP, client, task_queue=task_queue, grace=timedelta(0))


async def test_a_namespace_that_is_not_there_is_an_error_and_not_a_wait(
    embedded: EmbeddedServer, task_queue: str
) -> None:
    """As the SDK words it."""
    client = await Client.connect(
        embedded.target_host, namespace="nowhere", plugins=[TemperancePlugin(APP)]
    )
    with pytest.raises(RuntimeError, match="Namespace nowhere was not found"):
        await run_worker(APP, client, task_queue=task_queue)
