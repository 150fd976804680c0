"""`temperance worker`: from ready to drained, and what it logs."""

import asyncio
import json
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from temperance import Actor, Completed, ExecutionResult, TemperanceClient, TemperancePlugin
from temperance.embedded import EmbeddedServer
from tests.facade.cli_apps import shop
from tests.support.command_line import Running, command, run
from tests.support.waiting import wait_until


class Desk:
    """A worker in a process of its own, and a client that asks it."""

    def __init__(self, running: Running, client: Client, task_queue: str, folder: Path) -> None:
        self.running = running
        self.ready_file = folder / "ready.json"
        self._effects = folder / "effects"
        self._asking = TemperanceClient(
            client, shop.app, actor=Actor(id="ada"), task_queue=task_queue
        )

    async def invoke(
        self, capability: str, order: str, seconds: float = 0.0
    ) -> ExecutionResult[object]:
        """Ask for one execution."""
        return await self._asking.invoke(capability, {"order": order, "seconds": seconds})

    async def until(self, effect: str) -> None:
        """Wait for an effect."""

        async def has_happened() -> bool:
            return effect in self.happened()

        await wait_until(has_happened)

    def happened(self) -> list[str]:
        """The effects so far."""
        return self._effects.read_text().splitlines() if self._effects.exists() else []

    def log(self) -> list[dict[str, Any]]:
        """What it has logged: every line of standard error must be a JSON object."""
        return [json.loads(line) for line in self.running.err().splitlines()]


@asynccontextmanager
async def serving(
    embedded: EmbeddedServer, task_queue: str, folder: Path, *options: str
) -> AsyncGenerator[Desk]:
    """`temperance worker shop:app OPTIONS`, ready."""
    client = await embedded.connect(plugins=[TemperancePlugin(shop.app)])
    arguments = ["worker", "shop:app", "--address", embedded.target_host]
    arguments += ["--task-queue", task_queue, "--ready-file", str(folder / "ready.json"), *options]
    effects = {"SHOP_EFFECTS": str(folder / "effects")}
    async with command(*arguments, folder=folder / "run", env=effects) as running:
        desk = Desk(running, client, task_queue, folder)
        await running.until(desk.ready_file)
        yield desk


async def test_the_ready_file_says_who_listens_where_and_goes_when_it_stops(
    embedded: EmbeddedServer, task_queue: str, tmp_path: Path
) -> None:
    """Written only when the server has seen the worker; a stale one counts for nothing."""
    (tmp_path / "ready.json").write_text("{}")
    arguments = ["worker", "shop:app", "--address", embedded.target_host]
    arguments += ["--task-queue", task_queue, "--ready-file", str(tmp_path / "ready.json")]
    async with command(*arguments, folder=tmp_path / "run") as running:
        await running.until_err("worker ready")
        ready = json.loads((tmp_path / "ready.json").read_text())
        assert ready["pid"] == running.pid
        assert ready["task_queue"] == task_queue
        assert ready["namespace"] == "default"
        assert ready["capabilities"] == 5
        running.signal(signal.SIGTERM)
        ran = await running.end()
    assert ran.code == 0
    assert ran.out == ""
    assert not (tmp_path / "ready.json").exists()


async def test_sigterm_lets_a_running_attempt_finish(
    embedded: EmbeddedServer, task_queue: str, tmp_path: Path
) -> None:
    """The envelope is completed, the effect whole, the exit code 0."""
    async with serving(embedded, task_queue, tmp_path) as desk:
        asked = asyncio.ensure_future(desk.invoke("orders.refund", "o-1", seconds=1))
        await desk.until("begun o-1")
        desk.running.signal(signal.SIGTERM)
        envelope = await asked
        ran = await desk.running.end()
    assert isinstance(envelope, Completed)
    assert desk.happened() == ["begun o-1", "refunded o-1"]
    assert ran.code == 0
    assert [line["event"] for line in desk.log()][-1] == "worker stopped"


async def test_ctrl_c_is_heeded_as_sigterm_is_and_the_grace_period_has_an_end(
    embedded: EmbeddedServer, task_queue: str, tmp_path: Path
) -> None:
    """What outlasts it is cancelled, effect possible; the worker has stopped as asked."""
    async with serving(embedded, task_queue, tmp_path, "--grace", "0.2") as desk:
        asked = asyncio.ensure_future(desk.invoke("orders.refund", "o-1", seconds=15))
        await desk.until("begun o-1")
        desk.running.signal(signal.SIGINT)
        envelope = await asked
        ran = await desk.running.end()
    assert envelope.status == "failed"
    assert envelope.effect == "possible"
    assert ran.code == 0
    assert "Traceback" not in ran.err
    assert desk.happened() == ["begun o-1"]


async def test_a_thread_that_heeds_nothing_does_not_keep_the_worker(
    embedded: EmbeddedServer, task_queue: str, tmp_path: Path
) -> None:
    """The interpreter would wait for it for as long as it takes: here for a minute."""
    async with serving(embedded, task_queue, tmp_path, "--grace", "0.2") as desk:
        asked = asyncio.ensure_future(desk.invoke("orders.print_label", "o-1", seconds=60))
        await desk.until("begun o-1")
        desk.running.signal(signal.SIGTERM)
        envelope = await asked
        ran = await desk.running.end(timedelta(seconds=20))
    assert envelope.status == "failed"
    assert envelope.effect == "possible"
    assert ran.code == 0


async def test_a_second_signal_ends_the_worker_at_once(
    embedded: EmbeddedServer, task_queue: str, tmp_path: Path
) -> None:
    """By that very signal, as a shell or a supervisor expects."""
    async with serving(embedded, task_queue, tmp_path) as desk:
        asked = asyncio.ensure_future(desk.invoke("orders.refund", "o-1", seconds=15))
        await desk.until("begun o-1")
        desk.running.signal(signal.SIGTERM)
        await desk.running.until_err("worker stops")
        desk.running.signal(signal.SIGTERM)
        ran = await desk.running.end()
        asked.cancel()
    assert ran.code == -signal.SIGTERM


async def test_no_more_attempts_run_at_a_time_than_allowed(
    embedded: EmbeddedServer, task_queue: str, tmp_path: Path
) -> None:
    """With one at a time each refund is whole before the next begins."""
    async with serving(embedded, task_queue, tmp_path, "--max-concurrent-activities", "1") as desk:
        await asyncio.gather(*(desk.invoke("orders.refund", f"o-{n}", 0.1) for n in range(3)))
    happened = desk.happened()
    assert [line.split()[0] for line in happened] == ["begun", "refunded"] * 3
    assert happened[0].split()[1] == happened[1].split()[1]


async def test_g10_every_line_of_the_log_is_json_and_none_has_a_payload_or_a_secret(
    embedded: EmbeddedServer, task_queue: str, tmp_path: Path
) -> None:
    """Also at level debug, where the SDK itself would log whole messages of the server."""
    async with serving(
        embedded, task_queue, tmp_path, "--log-format", "json", "--log-level", "debug"
    ) as desk:
        looked_up = await desk.invoke("orders.look_up", "payload-o-17")
        failed = await desk.invoke("orders.fail", "payload-o-18")
        await desk.invoke("orders.refund", "payload-o-19")
        desk.running.signal(signal.SIGTERM)
        ran = await desk.running.end()
    assert "payload-o-" not in ran.err
    assert shop.SECRET not in ran.err
    assert "Traceback" not in ran.err
    log = desk.log()
    for line in log:
        assert {"timestamp", "level", "logger", "event"} <= line.keys()
    own = {line["event"]: line for line in log if line["logger"] == "shop"}
    for text in ("looked up by structlog", "looked up by logging"):
        assert own[text]["execution_id"] == looked_up.execution_id
        assert own[text]["capability"] == "orders.look_up"
        assert own[text]["attempt"] == 1
        assert own[text]["workflow_id"]
    ended = [line for line in log if line["event"] == "capability.failed"]
    assert [line["execution_id"] for line in ended] == [failed.execution_id]
    reduced = [line for line in log if line["logger"] == "temporalio.activity"]
    assert [line["event"] for line in reduced if line["level"] == "warning"] == [
        "Completing activity as failed: EXECUTION_FAILED, no further attempt"
    ]


async def test_what_is_bound_to_one_attempt_is_not_on_the_lines_of_the_next(
    embedded: EmbeddedServer, task_queue: str, tmp_path: Path
) -> None:
    """Nor on those of the worker itself."""
    async with serving(embedded, task_queue, tmp_path) as desk:
        first = await desk.invoke("orders.look_up", "o-1")
        second = await desk.invoke("orders.look_up", "o-2")
        desk.running.signal(signal.SIGTERM)
        await desk.running.end()
    log = desk.log()
    own = [line["execution_id"] for line in log if line["event"] == "looked up by logging"]
    assert own == [first.execution_id, second.execution_id]
    assert all("execution_id" not in line for line in log if "worker" in line["logger"])


async def test_a_workflow_may_be_named_on_the_command_line(
    embedded: EmbeddedServer, task_queue: str, tmp_path: Path
) -> None:
    """It is served beside the application's own, and its log lines carry its id."""
    async with serving(embedded, task_queue, tmp_path, "--workflow", "ticket:Ticket") as desk:
        client = await embedded.connect()
        order: str = await client.execute_workflow(
            "Ticket", "o-1", id=task_queue, task_queue=task_queue, result_type=str
        )
        assert json.loads(desk.ready_file.read_text())["workflows"] == ["Ticket"]
        desk.running.signal(signal.SIGTERM)
        await desk.running.end()
    assert order == "o-1"
    log = desk.log()
    own = [line for line in log if line["logger"] == "temporalio.workflow"]
    assert [line["event"] for line in own] == ["a ticket begins", "a ticket ends"]
    assert {line["workflow_id"] for line in own} == {task_queue}
    assert {line["workflow_id"] for line in log if line["logger"] == "shop"} == {task_queue}


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (
            ["incomplete:app"],
            6,
            ["parts.lost is declared and not in the registry", "'NotAWorkflow' is no workflow"],
        ),
        (["ungovernable:app"], 6, ["wrong.write", "wrong.empty"]),
        (["shop:app", "--workflow", "shop:Order"], 2, ["shop:Order is not a workflow: it is a cl"]),
        (["shop:app", "--namespace", "nowhere"], 5, ["Namespace nowhere is not found"]),
        (["shop:app", "--ready-file", "absent/a.json"], 2, ["ready file cannot be written"]),
        (["shop:app", "--grace", "0"], 2, ["'--grace'"]),
        (["shop:app", "--max-concurrent-activities", "0"], 2, ["'--max-concurrent-activities'"]),
    ],
)
async def test_a_worker_that_cannot_serve_does_not_start_and_says_why(
    embedded: EmbeddedServer, tmp_path: Path, arguments: list[str], code: int, said: list[str]
) -> None:
    """All reasons at once, on standard error, with the exit code of their kind."""
    ran = await run("worker", *arguments, "--address", embedded.target_host, folder=tmp_path)
    assert ran.code == code
    for words in said:
        assert words in ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""


async def test_the_worker_that_is_seen_is_this_one(
    embedded: EmbeddedServer, task_queue: str, tmp_path: Path
) -> None:
    """Another worker on the same task queue does not make this one ready before it listens."""
    async with serving(embedded, task_queue, tmp_path / "first") as first:
        async with serving(embedded, task_queue, tmp_path / "second") as second:
            identities = {
                json.loads(desk.ready_file.read_text())["identity"] for desk in (first, second)
            }
            pids = {str(desk.running.pid) for desk in (first, second)}
        assert {identity.partition("@")[0] for identity in identities} == pids
