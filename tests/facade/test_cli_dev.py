"""`temperance dev`: a server on a file and a worker, together from start to end."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from temperance.embedded import EmbeddedServer
from tests.support.command_line import Ran, Running, command, run
from tests.support.waiting import wait_until


class Dev:
    """`temperance dev shop:app`, ready."""

    def __init__(self, running: Running, folder: Path) -> None:
        self.running = running
        self._folder = folder
        said = dict(line.split(maxsplit=1) for line in running.out().splitlines()[1:])
        self.ui = running.out().splitlines()[0].removeprefix("Temporal UI").strip()
        self.server = said["server"].partition(",")[0]

    async def refund(self, request_id: str) -> Ran:
        """Ask for one execution by the command line."""
        return await run(
            *("invoke", "orders.refund", "--app", "shop:app", "--input", '{"order": "o-1"}'),
            *("--address", self.server, "--request-id", request_id, "--json"),
            folder=self._folder / "invoke",
        )

    def server_pid(self) -> int:
        """The process id of the server, as its lock on the store tells it."""
        lock = (self._folder / "data" / "temporal.db.lock").read_text()
        return int(lock.removeprefix("pid ").partition(",")[0])


@asynccontextmanager
async def developing(folder: Path) -> AsyncGenerator[Dev]:
    """The server's data is in `folder`; any free ports, so that tests may run side by side."""
    effects = {"SHOP_EFFECTS": str(folder / "effects")}
    ready = folder / "ready.json"
    arguments = ["dev", "shop:app", "--data-dir", str(folder / "data"), "--ready-file", str(ready)]
    async with command(*arguments, folder=folder / "dev", env=effects) as running:
        await running.until(ready)
        yield Dev(running, folder)


async def is_gone(pid: int) -> bool:
    """Whether there is no such process."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


async def status_of(url: str) -> str:
    """The first line that the web server answers."""
    address = url.removeprefix("http://")
    host, _, port = address.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET / HTTP/1.0\r\nHost: {address}\r\n\r\n".encode())
    line = await reader.readline()
    writer.close()
    return line.decode().strip()


async def test_dev_serves_until_ctrl_c_and_remembers_what_ran(tmp_path: Path) -> None:
    """The UI answers; Ctrl-C stops worker and server; the next start still knows the request."""
    async with developing(tmp_path) as dev:
        assert "200" in await status_of(dev.ui)
        first = await dev.refund("r-1")
        assert first.code == 0
        pid = dev.server_pid()
        assert not await is_gone(pid)
        dev.running.signal(signal.SIGINT)
        ran = await dev.running.end()
    assert ran.code == 0
    assert "Traceback" not in ran.err
    assert [json.loads(line)["event"] for line in ran.err.splitlines()][-1] == "worker stopped"
    assert await is_gone(pid)
    assert (tmp_path / "data" / ".gitignore").read_text() == "*\n"

    async with developing(tmp_path) as again:
        second = await again.refund("r-1")
        again.running.signal(signal.SIGTERM)
        assert (await again.running.end()).code == 0
    assert json.loads(second.out) == json.loads(first.out)
    assert (tmp_path / "effects").read_text().splitlines() == ["begun o-1", "refunded o-1"]


async def test_dev_ends_with_5_when_the_server_does(tmp_path: Path) -> None:
    """And says where the server's log is."""
    async with developing(tmp_path) as dev:
        os.kill(dev.server_pid(), signal.SIGKILL)
        ran = await dev.running.end()
    assert ran.code == 5
    assert "error: the server ended by itself (exit code -9)" in ran.err
    assert "server.log" in ran.err
    assert "Traceback" not in ran.err


async def test_a_second_signal_leaves_no_server_behind(tmp_path: Path) -> None:
    """Although nothing of dev itself runs any more."""
    async with developing(tmp_path) as dev:
        pid = dev.server_pid()
        asked = asyncio.ensure_future(
            run(
                *("invoke", "orders.refund", "--app", "shop:app", "--address", dev.server),
                *("--input", '{"order": "o-1", "seconds": 15}'),
                folder=tmp_path / "invoke",
            )
        )
        await wait_until(lambda: _exists(tmp_path / "effects"))
        dev.running.signal(signal.SIGINT)
        await dev.running.until_err("worker stops")
        dev.running.signal(signal.SIGINT)
        assert (await dev.running.end()).code == -signal.SIGINT
        asked.cancel()
        await asyncio.wait({asked})
    await wait_until(lambda: is_gone(pid))


async def _exists(path: Path) -> bool:
    return await asyncio.to_thread(path.exists)


async def test_dev_says_what_keeps_it_from_starting(tmp_path: Path) -> None:
    """A store that is in use, a folder that is none, an application that cannot be served."""
    async with EmbeddedServer(db_path=tmp_path / "temporal.db", headless=True):
        in_use = await run(
            "dev", "shop:app", "--data-dir", str(tmp_path), folder=tmp_path / "first"
        )
    assert in_use.code == 5
    assert "is in use by another server" in in_use.err

    (tmp_path / "file").write_text("")
    no_folder = await run(
        "dev", "shop:app", "--data-dir", str(tmp_path / "file" / "x"), folder=tmp_path / "second"
    )
    assert no_folder.code == 2
    assert "choose another folder with --data-dir" in no_folder.err

    incomplete = await run(
        "dev", "incomplete:app", "--data-dir", str(tmp_path / "new"), folder=tmp_path / "third"
    )
    assert incomplete.code == 6
    assert "parts.lost is declared and not in the registry" in incomplete.err
    for ran in (in_use, no_folder, incomplete):
        assert "Traceback" not in ran.err
