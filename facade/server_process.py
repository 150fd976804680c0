"""The server's operating system process: bound to the life of this one, and always reaped.

A server that outlives the program that started it would go on dispatching work, and would hold the
store. So:

- on Linux the child asks the kernel to be killed when the thread that started it ends
  (PR_SET_PDEATHSIG), which also covers SIGKILL of this process. It asks from a short program that
  then *becomes* the server (`exec`), not from a `preexec_fn`: Python code between fork and exec may
  deadlock in a process with threads, and Temporal's core has them. This costs 15 ms once. "The
  thread that started it" is the one that runs the event loop.
- everywhere an exit of the interpreter without `stop()` kills the server (atexit). On macOS that is
  all there is: a SIGKILL of this process leaves the server running, and the next start names it
  (`StoreInUse`).

The server has a session of its own, so Ctrl-C in a terminal reaches this process and not the
server: a worker can finish what it has begun before the server goes.
"""

import asyncio
import atexit
import os
import sys
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Self

from temperance.server_error import ServerStartFailed
from temperance.server_log import ServerLog

_BOUND_TO_PARENT = """
import ctypes, os, signal, sys
PR_SET_PDEATHSIG = 1
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    sys.exit("the process that started the server has ended")
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
os.execv(sys.argv[2], sys.argv[2:])
"""


class ServerProcess:
    """One run of the server. Made by `spawn`."""

    def __init__(self, process: asyncio.subprocess.Process, log: ServerLog) -> None:
        self._process = process
        self._log = log
        atexit.register(self._abandon)

    @classmethod
    async def spawn(
        cls, binary: Path, arguments: Sequence[str], *, log: ServerLog, inherit: Sequence[int] = ()
    ) -> Self:
        """Start the server; it keeps the file descriptors `inherit` open."""
        output = log.open_for_a_run()
        process = await asyncio.create_subprocess_exec(
            *bound_to_this_process([str(binary), *arguments]),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=_own_environment(os.environ),
            pass_fds=tuple(inherit),
            start_new_session=True,
        )
        return cls(process, log)

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative when a signal ended it."""
        return self._process.returncode

    async def wait(self) -> int:
        """Wait until it has ended, and reap it. Returns the exit code."""
        code = await self._process.wait()
        atexit.unregister(self._abandon)
        return code

    async def ready(self, condition: Coroutine[None, None, None], *, within: timedelta) -> None:
        """Wait until `condition` has come true, as long as the server runs.

        Raises:
            ServerStartFailed: the server ended, or the time is over. It is left as it is.
        """
        ready = asyncio.ensure_future(condition)
        ended = asyncio.ensure_future(self.wait())
        try:
            await asyncio.wait(
                {ready, ended},
                timeout=within.total_seconds(),
                return_when=asyncio.FIRST_COMPLETED,
            )
            tail = self._log.tail()
            if ended.done():
                raise ServerStartFailed(_ended(ended.result(), tail), tail)
            if not ready.done():
                raise ServerStartFailed(
                    f"the server was not ready within {within.total_seconds():g} s; "
                    f"allow more time (start_timeout), or see its log",
                    tail,
                )
            ready.result()
        finally:
            ready.cancel()
            ended.cancel()
            await asyncio.gather(ready, ended, return_exceptions=True)

    async def stop(self, timeout: timedelta) -> int:
        """Ask it to end (SIGTERM), kill it when it has not in time, and return the exit code."""
        with suppress(ProcessLookupError):
            self._process.terminate()
        try:
            async with asyncio.timeout(timeout.total_seconds()):
                return await self.wait()
        except TimeoutError:
            return await self.kill()
        except asyncio.CancelledError:
            self._abandon()
            raise

    async def kill(self) -> int:
        """End it at once (SIGKILL), as a crash would. Returns the exit code."""
        self._abandon()
        return await self.wait()

    def _abandon(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()


def bound_to_this_process(command: Sequence[str]) -> list[str]:
    """The command that runs `command`, and on Linux ends with this process. Starts with a path."""
    if sys.platform == "linux" and sys.executable:
        return [sys.executable, "-ISc", _BOUND_TO_PARENT, str(os.getpid()), *command]
    return list(command)


def _own_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Without TEMPORAL_*: they say how to reach a server, and a wrong one could stop this one."""
    return {key: value for key, value in environment.items() if not key.startswith("TEMPORAL_")}


def _ended(exit_code: int, tail: Sequence[str]) -> str:
    # The program says on one line that starts so why it gives up; the rest of its log is about its
    # inner life.
    reasons = [line.removeprefix("Error: ") for line in tail if line.startswith("Error: ")]
    reason = reasons[-1] if reasons else tail[-1] if tail else "it wrote nothing"
    return f"the server ended with exit code {exit_code} before it was ready: {reason}"
