"""The command line: `python -m benchmarks [NAME ...]`, or `make bench ARGS="NAME ..."`."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click

from temperance.embedded import EmbeddedServer, EmbeddedServerError

from .figures import Result
from .in_process import in_process
from .instructions import instructions
from .local import local
from .replay import replay
from .report import as_json, print_table, verdict
from .scale import FULL, QUICK, Scale
from .starting import starting
from .temporal import concurrent, sequential
from .worker_process import WorkerProcess

ON_TEMPORAL: Final = {
    "sequential": sequential,
    "concurrent": concurrent,
    "local": local,
    "replay": replay,
    "start": starting,
}
NAMES: Final = ("in-process", "instructions", *ON_TEMPORAL)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, type=click.Choice(NAMES))
@click.option("--quick", is_flag=True, help="A tenth of the work: to see that it runs.")
@click.option(
    "--json",
    "path",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write all figures to this file, as JSON.",
)
@click.option("--check", is_flag=True, help="Let the exit code say whether the budgets are kept.")
def main(names: tuple[str, ...], quick: bool, path: Path | None, check: bool) -> None:
    """Measure what governance costs against the same work written by hand.

    NAMES pick some of: in-process, instructions, sequential, concurrent, local,
    replay, start. Left out,
    all of them run; with --quick all but instructions.

    Exit code with --check: 0 when every budget is kept, 1 when one is exceeded, 3 when none is but
    the run was too noisy to claim all of them. 2 when the command line is wrong.
    """
    chosen = names or tuple(name for name in NAMES if not (quick and name == "instructions"))
    try:
        results = asyncio.run(_run(chosen, QUICK if quick else FULL))
    except (EmbeddedServerError, RuntimeError) as error:
        raise click.ClickException(str(error)) from error
    print_table(results)
    if path is not None:
        path.write_text(as_json(results, quick=quick) + "\n")
    if check:
        sys.exit(verdict(results))


async def _run(names: Sequence[str], scale: Scale) -> list[Result]:
    results: list[Result] = []
    if "in-process" in names:
        results += await _told("in-process", lambda: in_process(scale))
    if "instructions" in names:
        results += await _told("instructions", instructions)
    chosen = [name for name in ON_TEMPORAL if name in names]
    if chosen:
        results += await _on_temporal(chosen, scale)
    return results


async def _on_temporal(names: Sequence[str], scale: Scale) -> list[Result]:
    results: list[Result] = []
    with TemporaryDirectory(prefix="benchmarks-") as folder:
        async with (
            EmbeddedServer(headless=True) as server,
            WorkerProcess(server.target_host, "governed", Path(folder)) as worker,
            WorkerProcess(server.target_host, "plain", Path(folder)) as plain,
        ):
            client = await server.connect()
            for name in names:
                benchmark = ON_TEMPORAL[name]
                results += await _told(name, partial(benchmark, client, worker, plain, scale))
    return results


async def _told(
    name: str, benchmark: Callable[[], Awaitable[Sequence[Result]]]
) -> Sequence[Result]:
    print(f"{name} ...", file=sys.stderr, flush=True)
    return await benchmark()


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
