"""`temperance invoke`: one execution, its envelope, and an exit code that says how it went."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from temperance.cli_root import run as run_here
from temperance.embedded import EmbeddedServer
from temperance.plugin import TemperancePlugin
from temperance.worker import run_worker
from tests.facade.cli_apps import shop
from tests.support.command_line import APPS, Ran, command, run
from tests.support.waiting import wait_until


@dataclass(frozen=True)
class Shop:
    """The shop, served by this process; what the command line is asked ends up here."""

    server: EmbeddedServer
    task_queue: str
    folder: Path
    effects: Path

    def where(self, *arguments: str) -> list[str]:
        """Arguments, and where the shop is."""
        return [
            *("invoke", *arguments, "--app", "shop:app"),
            *("--address", self.server.target_host, "--task-queue", self.task_queue),
        ]

    async def invoke(self, *arguments: str, stdin: bytes | None = None) -> Ran:
        """Run `temperance invoke ARGUMENTS`."""
        return await run(*self.where(*arguments), folder=self.folder, stdin=stdin)

    def happened(self) -> list[str]:
        """The effects so far."""
        return self.effects.read_text().splitlines() if self.effects.exists() else []


@pytest.fixture
async def served(
    embedded: EmbeddedServer, task_queue: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Shop]:
    """The shop with a worker."""
    effects = tmp_path / "effects"
    monkeypatch.setenv("SHOP_EFFECTS", str(effects))
    stop = asyncio.Event()
    client = await embedded.connect(plugins=[TemperancePlugin(shop.app)])
    worker = asyncio.ensure_future(
        run_worker(shop.app, client, task_queue=task_queue, stop=stop, signals=False)
    )
    yield Shop(embedded, task_queue, tmp_path / "run", effects)
    stop.set()
    await worker


async def test_json_a_file_and_standard_input_ask_alike(served: Shop, tmp_path: Path) -> None:
    """And the answer of each is a completed envelope on standard output, exit code 0."""
    file = tmp_path / "order.json"
    file.write_text('{"order": "o-1"}')
    ways: list[tuple[str, bytes | None]] = [
        ('{"order": "o-1"}', None),
        (f"@{file}", None),
        ("-", b'{"order": "o-1"}'),
    ]
    for given, stdin in ways:
        ran = await served.invoke("orders.look_up", "--input", given, "--json", stdin=stdin)
        assert (ran.code, ran.err) == (0, "")
        assert len(ran.out.splitlines()) == 1
        envelope = json.loads(ran.out)
        assert envelope["status"] == "completed"
        assert envelope["effect"] == "done"
        assert envelope["output"]["order"] == "o-1"


async def test_what_a_person_reads_steers_no_terminal(served: Shop) -> None:
    """The output of a capability may hold anything; escapes are shown, and not obeyed."""
    ran = await served.invoke("orders.look_up", "--input", '{"order": "o-1"}')
    assert ran.code == 0
    assert ran.out.startswith("completed  orders.look_up  effect done, 1 attempt\n")
    assert "\x1b" not in ran.out
    assert "\x07" not in ran.out
    assert "\\u001b[31mred" in ran.out


async def test_g10_a_failure_ends_with_1_and_says_no_more_than_the_envelope(served: Shop) -> None:
    """The text of the exception is nowhere."""
    ran = await served.invoke("orders.fail", "--input", '{"order": "o-1"}')
    assert ran.code == 1
    assert ran.out.startswith("failed  orders.fail  effect possible, 1 attempt\n")
    assert "EXECUTION_FAILED: The operation failed." in ran.out
    assert shop.SECRET not in ran.out + ran.err


async def test_an_invalid_input_is_told_by_its_paths(served: Shop) -> None:
    """Valid JSON that does not fit the model is the execution's answer, not a wrong command."""
    ran = await served.invoke("orders.refund", "--input", '{"seconds": "x-secret"}')
    assert ran.code == 1
    assert "INPUT_INVALID" in ran.out
    assert '"path": "order"' in ran.out
    assert '"path": "seconds"' in ran.out
    assert "x-secret" not in ran.out + ran.err
    assert served.happened() == []


async def test_g8_what_needs_an_approval_ends_with_3_and_nothing_has_run(served: Shop) -> None:
    """The reasons, who may approve and until when are told."""
    ran = await served.invoke("orders.erase", "--input", '{"order": "o-1"}')
    assert ran.code == 3
    assert ran.out.startswith("approval_required  orders.erase  effect none")
    assert "manager" in ran.out
    assert "Erasing cannot be undone." in ran.out
    assert served.happened() == []


async def test_g9_a_capability_that_is_not_there_and_one_that_is_not_exposed_look_the_same(
    served: Shop,
) -> None:
    """Exit code 1 and the same answer, but for the id that was asked for."""
    unknown = await served.invoke("orders.nothing", "--input", "{}", "--json")
    unexposed = await served.invoke(
        "orders.refund", "--surface", "mcp", "--input", '{"order": "o-1"}', "--json"
    )
    assert (unknown.code, unexposed.code) == (1, 1)
    answers = [json.loads(ran.out) for ran in (unknown, unexposed)]
    for answer in answers:
        del answer["execution_id"], answer["capability"]
    assert answers[0] == answers[1]
    assert answers[0]["error"]["code"] == "CAPABILITY_NOT_FOUND"
    # The person who has the application at hand is told why, beside the answer.
    assert "has no orders.nothing" in unknown.err
    assert "orders.refund is exposed to" in unexposed.err
    assert "not to mcp" in unexposed.err


async def test_g5_a_request_id_that_is_sent_twice_runs_once(served: Shop) -> None:
    """Both get the same envelope; with another input the second one is refused."""
    again = ("--request-id", f"r-{served.task_queue}", "--json")
    first = await served.invoke("orders.refund", "--input", '{"order": "o-1"}', *again)
    second = await served.invoke("orders.refund", "--input", '{"order": "o-1"}', *again)
    assert (first.code, second.code) == (0, 0)
    assert first.out == second.out
    assert served.happened() == ["begun o-1", "refunded o-1"]

    other = await served.invoke("orders.refund", "--input", '{"order": "o-2"}', *again)
    assert other.code == 1
    assert json.loads(other.out)["error"]["code"] == "STEP_INPUT_MISMATCH"
    assert len(served.happened()) == 2


async def test_a_cancelled_execution_ends_with_4(served: Shop) -> None:
    """Cancelled by somebody else while this command waits for it."""
    request = f"r-{served.task_queue}"
    arguments = served.where(
        "orders.refund", "--input", '{"order": "o-1", "seconds": 15}', "--request-id", request
    )
    async with command(*arguments, folder=served.folder) as running:
        await wait_until(happens(served, "begun o-1"))
        client = await served.server.connect()
        await client.get_activity_handle(request).cancel()
        ran = await running.end()
    assert ran.code == 4
    assert ran.out.startswith("cancelled  orders.refund  effect possible")
    assert served.happened() == ["begun o-1"]


def happens(served: Shop, what: str) -> Callable[[], Awaitable[bool]]:
    """The condition that an effect has happened."""

    async def has_happened() -> bool:
        return what in served.happened()

    return has_happened


async def test_ctrl_c_stops_the_waiting_and_not_the_execution(served: Shop) -> None:
    """Exit code 130; the message has the request id, with which the envelope is had after all."""
    arguments = served.where("orders.refund", "--input", '{"order": "o-1", "seconds": 1}')
    async with command(*arguments, folder=served.folder) as running:
        await wait_until(happens(served, "begun o-1"))
        running.signal(signal.SIGINT)
        ran = await running.end()
    assert ran.code == 130
    assert "an execution that the server has accepted goes on" in ran.err
    assert "Traceback" not in ran.err
    request = ran.err.partition("--request-id ")[2].split()[0]

    later = await served.invoke(
        *("orders.refund", "--input", '{"order": "o-1", "seconds": 1}', "--request-id", request)
    )
    assert later.code == 0
    assert served.happened() == ["begun o-1", "refunded o-1"]


async def test_who_waits_for_a_worker_that_is_not_there_is_told(
    embedded: EmbeddedServer, task_queue: str, tmp_path: Path
) -> None:
    """The request waits on the server, and so does the command."""
    where = ("--address", embedded.target_host, "--task-queue", task_queue)
    arguments = ("invoke", "orders.look_up", "--app", "shop:app", "--input", '{"order": "o-1"}')
    async with command(*arguments, *where, folder=tmp_path) as running:
        await running.until_err(f"no worker listens to task queue '{task_queue}'")
        running.signal(signal.SIGINT)
        assert (await running.end()).code == 130


async def test_a_server_that_cannot_be_reached_ends_with_5_at_once(tmp_path: Path) -> None:
    """One line with the address, who set it, and what to do; no traceback and no colours."""
    ran = await run(
        *("invoke", "orders.look_up", "--app", "shop:app", "--input", '{"order": "o-1"}'),
        folder=tmp_path,
        env={"TEMPORAL_ADDRESS": "127.0.0.1:1"},
    )
    assert ran.code == 5
    assert ran.out == ""
    assert ran.err.splitlines() == [
        "error: cannot connect to Temporal at 127.0.0.1:1 (from TEMPORAL_ADDRESS): nothing listens "
        "there; start a server (`temperance dev`), or give another address"
    ]


async def test_a_namespace_that_is_not_there_ends_with_5(
    embedded: EmbeddedServer, tmp_path: Path
) -> None:
    """And says which."""
    ran = await run(
        *("invoke", "orders.look_up", "--app", "shop:app", "--input", '{"order": "o-1"}'),
        *("--address", embedded.target_host, "--namespace", "nowhere"),
        folder=tmp_path,
    )
    assert ran.code == 5
    assert "Namespace nowhere is not found" in ran.err
    assert "--namespace" in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--input", '{"card": "4111-secret'], "line 1 column"),
        (["--input", '{"card": NaN, "x": "4111-secret"}'], "line 1 column"),
        (["--input", ""], "is not JSON (--input)"),
        (["--input", "@absent.json"], "cannot be read from absent.json: No such file"),
        (["--input", "{}", "--actor", "4111-secret"], "write KIND:ID"),
        (["--input", "{}", "--actor", "model:ada"], "'user', 'service'"),
        (["--input", "{}", "--actor", "user:"], "id: "),
        (["--input", "{}", "--request-id", " "], "request_id is empty"),
        (["--input", "{}", "--surface", "window"], "is not one of"),
        ([], "Missing option '--input'"),
    ],
)
def test_a_wrong_command_ends_with_2_and_what_was_given_is_not_repeated(
    arguments: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Input that is not JSON is told by its place: it may hold anything."""
    monkeypatch.chdir(APPS)
    assert run_here(["invoke", "orders.look_up", "--app", "shop:app", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("error: ")
    assert said in told.err
    assert "4111-secret" not in told.err
