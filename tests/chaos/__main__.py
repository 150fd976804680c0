"""`python -m tests.chaos`: one run; CHAOS_EXECUTIONS and CHAOS_SEED say how much, and which."""

import asyncio
import os
import secrets
import sys
import tempfile
from pathlib import Path

from temporalio.runtime import LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter

from tests.chaos.report import table
from tests.chaos.run import Run, run


def main() -> int:
    """Run it, print the table, keep the folder where something is wrong."""
    executions = int(os.environ.get("CHAOS_EXECUTIONS") or 300)
    seed = int(os.environ.get("CHAOS_SEED") or secrets.randbelow(1_000_000))
    # That calls fail while the server is away is no news here.
    quiet = LoggingConfig(TelemetryFilter(core_level="ERROR", other_level="ERROR"))
    Runtime.set_default(Runtime(telemetry=TelemetryConfig(logging=quiet)))
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    sys.stdout.write(f"chaos: seed {seed}, {executions} executions, in {folder}\n")

    def progress(line: str) -> None:
        sys.stdout.write(f"  {line}\n")
        sys.stdout.flush()

    ended = asyncio.run(run(Run(folder, seed, executions), progress))
    sys.stdout.write(table(ended))
    return 1 if any(ended.failures.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
