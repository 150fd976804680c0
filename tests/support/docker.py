"""Whether a Docker engine answers, for tests that need one."""

import gc
import warnings
from functools import cache


@cache
def missing_docker() -> str | None:
    """None when an engine answers, else why not, in one line. Asked once, and never an error."""
    with warnings.catch_warnings():
        # A client that finds no engine leaves its socket to the garbage collector.
        warnings.simplefilter("ignore", ResourceWarning)
        reason = _ping()
        gc.collect()
    return reason


def _ping() -> str | None:
    try:
        from testcontainers.core.docker_client import DockerClient  # noqa: PLC0415 - slow to import

        client = DockerClient(timeout=5).client
        try:
            client.ping()
        finally:
            client.close()
    except Exception as error:  # noqa: BLE001 - whatever is wrong, the tests are skipped
        reason = " ".join(str(error).split())[:200]
        return f"no Docker engine answers ({type(error).__name__}: {reason})"
    return None
