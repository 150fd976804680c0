"""Takes the figures: the arms take turns, each on a worker process of its own."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from time import perf_counter_ns

from temporalio.client import Client

from benchmarks.figures import Figure, compare
from benchmarks.worker_process import WorkerProcess

from .arms import ARMS, BASE, WORKFLOWS, begin, end, worker_of


@dataclass(frozen=True)
class Run:
    """One agent run of one arm, each figure for one tool call and the model turn before it.

    The run's start, the last turn of the model and its end are shared out among the calls.

    Args:
        ms: Wall time.
        cpu: Processor time of the worker, in ms.
        size: Bytes of history.
        events: Events of history.
    """

    ms: float
    cpu: float
    size: float
    events: float


async def measure(client: Client, host: str, folder: Path, blocks: int, calls: int) -> list[Figure]:
    """Runs blocks of one agent run of each arm.

    Args:
        client: A client of the server.
        host: The server, for the workers.
        folder: For the workers.
        blocks: How many blocks; one more warms up.
        calls: Tool calls of each run.

    Raises:
        RuntimeError: The arms did not do the same work.
    """
    async with AsyncExitStack() as stack:
        workers = {
            arm: await stack.enter_async_context(worker_of(host, arm, folder)) for arm in WORKFLOWS
        }
        runs: list[dict[str, Run]] = []
        for number in range(blocks + 1):
            print(f"block {number} of {blocks}", file=sys.stderr, flush=True)
            runs.append(await _block(client, workers, calls, number))
        wanted = {f"o-{number}": blocks + 1 for number in range(calls)}
        for arm, worker in workers.items():
            if (effects := await worker.effects()) != wanted:
                raise RuntimeError(f"{arm} settled {effects}, the others {wanted}")
    return _figures(runs[1:])


async def _block(
    client: Client, workers: Mapping[str, WorkerProcess], calls: int, number: int
) -> dict[str, Run]:
    arms = list(WORKFLOWS)
    runs: dict[str, Run] = {}
    for arm in turns(arms, number):
        cpu, began = await workers[arm].cpu_ns(), perf_counter_ns()
        handle = await begin(client, arm, f"o {calls}")
        await handle.result()
        ms = (perf_counter_ns() - began) / 1e6
        cpu = await workers[arm].cpu_ns() - cpu
        ended = await end(handle)
        if ended.activities != 2 * calls + 1:
            raise RuntimeError(
                f"{arm} asked for {ended.activities} activities, not for {2 * calls + 1}"
            )
        runs[arm] = Run(
            ms=ms / calls,
            cpu=cpu / 1e6 / calls,
            size=sum(event.ByteSize() for event in ended.events) / calls,
            events=len(ended.events) / calls,
        )
    return {arm: runs[arm] for arm in arms}


def turns(arms: Sequence[str], number: int) -> list[str]:
    """The order of the arms in a block: over 20 blocks each of 5 follows each other one as often.

    Args:
        arms: A prime number of them.
        number: Of the block.
    """
    count = len(arms)
    step = 1 + number // count % (count - 1)
    return [arms[(number + step * place) % count] for place in range(count)]


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
        blocks = each(figure)
        figures += [
            Figure("peers", name, arm, mean(block[arm] for block in blocks), unit) for arm in ARMS
        ]
    return figures
