"""The command line: `python -m benchmarks.peers`, or `make bench-peers`."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from time import perf_counter_ns
from typing import Final
from uuid import uuid4

import click
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client

from benchmarks.figures import Figure, Result, compare
from benchmarks.report import as_json, print_table
from benchmarks.worker_process import WorkerProcess
from temperance.embedded import EmbeddedServer, EmbeddedServerError

from .tool import FLAKY, TELLTALE

WORKFLOWS: Final[dict[str, str]] = {
    "by hand": "ByHand",
    "by hand again": "ByHand",
    "temperance": "Governed",
    "pydantic-ai": "WithPydanticAI",
    "openai-agents": "WithOpenAIAgents",
}
"""Workflow type of each arm; the first two are equal, and say how quiet the machine was."""

TOOLS: Final = ("settle", "orders.settle")
"""What activity types of the tool contain, where the framework does not add the model's."""

PEERS: Final = ("pydantic-ai-slim", "temporalio-openai-agents", "openai-agents")
BASE: Final = ("by hand", "by hand again")


@dataclass(frozen=True)
class Run:
    """One agent run of one arm.

    Args:
        ms: Wall time for each tool call and the model turn before it.
        cpu: Processor time of the worker, likewise.
        size: Bytes of history, likewise.
        events: Events of history, likewise.
    """

    ms: float
    cpu: float
    size: float
    events: float


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--quick", is_flag=True, help="Two blocks of five calls: to see that it runs.")
@click.option("--blocks", type=click.IntRange(min=2), default=12, show_default=True)
@click.option("--calls", type=click.IntRange(min=1), default=20, show_default=True)
@click.option(
    "--json",
    "path",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write all figures to this file, as JSON.",
)
def main(quick: bool, blocks: int, calls: int, path: Path | None) -> None:
    """Measure an agent that calls a tool: by hand, governed, and with the plugins that exist.

    Every arm has the same scripted model and the same tool, and calls it as often, one call for
    each turn of the model. Arms take turns, each on a worker process of its own.
    """
    missing = [name for name in PEERS if not _is_installed(name)]
    if missing:
        raise click.ClickException(
            f"{', '.join(missing)} missing: run `make bench-peers`, which has its own environment"
        )
    if quick:
        blocks, calls = 2, 5
    try:
        results = asyncio.run(_measure(blocks, calls))
    except (EmbeddedServerError, RuntimeError) as error:
        raise click.ClickException(str(error)) from error
    print_table(results)
    print(f"versions: {', '.join(f'{name} {version(name)}' for name in (*PEERS, 'temporalio'))}")
    if path is not None:
        path.write_text(as_json(results, quick=quick) + "\n")


async def _measure(blocks: int, calls: int) -> list[Result]:
    with TemporaryDirectory(prefix="peers-") as folder:
        async with AsyncExitStack() as stack:
            server = await stack.enter_async_context(EmbeddedServer(headless=True))
            workers = {
                arm: await stack.enter_async_context(
                    WorkerProcess(
                        server.target_host, arm, Path(folder), module="benchmarks.peers.worker"
                    )
                )
                for arm in WORKFLOWS
            }
            client = await server.connect()
            runs = [await _block(client, workers, calls, number) for number in range(blocks + 1)]
            results: list[Result] = [*_figures(runs[1:])]
            for arm, worker in workers.items():
                if arm != BASE[1]:
                    results += await _facts(client, worker, arm)
            return results


async def _block(
    client: Client, workers: Mapping[str, WorkerProcess], calls: int, number: int
) -> dict[str, Run]:
    arms = list(WORKFLOWS)
    turn = number % len(arms)
    runs: dict[str, Run] = {}
    for arm in (*arms[turn:], *arms[:turn]):
        worker = workers[arm]
        cpu, began = await worker.cpu_ns(), perf_counter_ns()
        events = await _run(client, worker, arm, f"o {calls}")
        ms = (perf_counter_ns() - began) / 1e6
        runs[arm] = Run(
            ms=ms / calls,
            cpu=(await worker.cpu_ns() - cpu) / 1e6 / calls,
            size=sum(event.ByteSize() for event in events) / calls,
            events=len(events) / calls,
        )
    print(f"block {number}", file=sys.stderr, flush=True)
    return {arm: runs[arm] for arm in arms}


async def _run(client: Client, worker: WorkerProcess, arm: str, prompt: str) -> list[HistoryEvent]:
    handle = await client.start_workflow(
        WORKFLOWS[arm], prompt, id=f"peer-{uuid4()}", task_queue=worker.task_queue
    )
    await handle.result()
    return [event async for event in handle.fetch_history_events()]


def _figures(runs: Sequence[Mapping[str, Run]]) -> list[Figure]:
    def each(figure: str) -> list[dict[str, float]]:
        return [{arm: getattr(run, figure) for arm, run in block.items()} for block in runs]

    figures = [
        *compare("peers", "time", "ms", each("ms"), base=BASE),
        *compare("peers", "worker CPU", "ms", each("cpu"), base=BASE),
    ]
    for name, figure, unit in (
        ("history bytes", "size", "B"),
        ("history events", "events", "events"),
    ):
        figures += [
            Figure("peers", name, arm, mean(block[arm] for block in each(figure)), unit)
            for arm in WORKFLOWS
            if arm != BASE[1]
        ]
    return figures


async def _facts(client: Client, worker: WorkerProcess, arm: str) -> list[Figure]:
    """What becomes of a tool that takes effect and then fails twice, as each arm is by default."""
    order = f"{FLAKY}-{uuid4()}"
    events = await _run(client, worker, arm, f"{order} 1")
    policies = [
        event.activity_task_scheduled_event_attributes.retry_policy.maximum_attempts
        for event in events
        if event.HasField("activity_task_scheduled_event_attributes")
        and any(
            tool in event.activity_task_scheduled_event_attributes.activity_type.name
            or "call_tool" in event.activity_task_scheduled_event_attributes.activity_type.name
            for tool in TOOLS
        )
    ]
    effects = await worker.effects()
    leaked = any(TELLTALE.encode() in event.SerializeToString() for event in events)
    return [
        Figure("defaults", "attempts at most; 0: no limit", arm, policies[0], "attempts"),
        Figure(
            "defaults",
            "effects, failing twice after",
            arm,
            effects[f"{order}-0"],
            "effects",
        ),
        Figure("defaults", "exception text in history", arm, float(leaked), "(1: yes)"),
    ]


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.peers")
