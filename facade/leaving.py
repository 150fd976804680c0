"""How a process that has used the Temporal SDK ends with the exit code that it means.

The SDK's own threads may still call into Python while the interpreter is torn down, and then the
process dies of SIGABRT or SIGSEGV, its work long done. Seen with temporalio 1.35 on one connection
attempt in forty, and known: https://github.com/temporalio/sdk-python/issues/300.
"""

import atexit
import os
import sys
from contextlib import suppress
from typing import NoReturn


def leave(code: int) -> NoReturn:
    """Ends the process: everything an orderly exit does, but for tearing the interpreter down.

    Exit functions are run and streams flushed. Threads are not waited for: a ``def`` handler that
    outlasts a worker's grace period ends with the process.

    Args:
        code: The exit code.
    """
    try:
        # What `sys.exit` would come to; there is no public way to ask for it alone.
        atexit._run_exitfuncs()  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
