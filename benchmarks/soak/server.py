"""How much the server itself keeps for each workflow: `python -m benchmarks.soak.server`.

The workflows do nothing. What is left is what any workflow costs a development server: rows of its
database, and an entry in its own cache of executions, which is bounded.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Final

import click
from temporalio import workflow
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from temperance.embedded import EmbeddedServer

from .size import resident_mib, stored_mib

CACHE: Final = "history.hostLevelCacheMaxSize"
"""The server's setting: how many executions its history service keeps in memory."""

AT_A_TIME: Final = 25
TASK_QUEUE: Final = "nothing"


@workflow.defn(name="soak.Nothing")
class Nothing:
    """Ends at once."""

    @workflow.run
    async def run(self) -> None: ...


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--workflows", type=click.IntRange(min=1000), default=12_000, show_default=True)
@click.option(
    "--cached",
    type=click.IntRange(min=1),
    help="How many executions the server keeps in memory; its own default without.",
)
def main(workflows: int, cached: int | None) -> None:
    """Run workflows that do nothing, and tell how big the server is after each thousand."""
    settings = {} if cached is None else {CACHE: cached}
    asyncio.run(_run(workflows, MappingProxyType(settings)))


async def _run(workflows: int, settings: Mapping[str, int]) -> None:
    with TemporaryDirectory(prefix="soak-") as folder:
        database = Path(folder) / "temporal.db"
        async with EmbeddedServer(
            db_path=database, headless=True, dynamic_config=settings
        ) as server:
            client = await server.connect()
            places = asyncio.Semaphore(AT_A_TIME)

            async def one(number: int) -> None:
                async with places:
                    await client.execute_workflow(
                        Nothing.run, id=f"nothing-{number}", task_queue=TASK_QUEUE
                    )

            async with Worker(
                client,
                task_queue=TASK_QUEUE,
                workflows=[Nothing],
                workflow_runner=UnsandboxedWorkflowRunner(),
                max_cached_workflows=AT_A_TIME,
            ):
                for done in range(0, workflows, 1000):
                    await asyncio.gather(*(one(done + number) for number in range(1000)))
                    pid = server.pid
                    assert pid is not None, "the server ended"
                    print(
                        f"{done + 1000:6,} workflows: server {resident_mib(pid):.0f} MiB, "
                        f"database {stored_mib(database):.0f} MiB",
                        flush=True,
                    )


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.soak.server")
