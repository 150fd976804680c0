"""The command line: `python -m benchmarks.soak`, or `make soak ARGS="--minutes 30"`."""

import asyncio
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import click

from temperance import TemperancePlugin
from temperance.embedded import EmbeddedServer, EmbeddedServerError

from .journey import Journey
from .load import Load
from .report import Soaked, as_json, as_markdown, print_report
from .sampling import Sample, Site, Watched, sample
from .shop import CountingSink, app_of

PARTS = (1 / 3, 2 / 3)
"""The run is loaded, comes to rest, and is loaded again, for such parts of the time."""

SETTLES = 15.0
"""Seconds from the last answer to a sample at rest: heartbeats and timers have ended by then."""


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--minutes", type=click.FloatRange(min=0.2), default=30.0, show_default=True)
@click.option(
    "--every", type=click.FloatRange(min=0.5), default=5.0, show_default=True, help="Seconds."
)
@click.option(
    "--json",
    "path",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write every sample to this file, as JSON.",
)
@click.option(
    "--markdown",
    "page",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write the tables to this file, as Markdown.",
)
def main(minutes: float, every: float, path: Path | None, page: Path | None) -> None:
    """Put mixed load on a worker and a server for a long time, and see whether they grow.

    A run of less than ten minutes is told but not judged.

    Exit code: 0 when everything that has a bound kept it, 1 when something grew, 2 when the
    command line is wrong.
    """
    try:
        soaked = asyncio.run(_soak(minutes * 60, every))
        print_report(soaked)
    except (EmbeddedServerError, RuntimeError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    print(f"stored for each workflow run: {soaked.bytes_stored:,.0f} bytes")
    if path is not None:
        path.write_text(as_json(soaked) + "\n")
    if page is not None:
        page.write_text(as_markdown(soaked) + "\n")
    if soaked.grows:
        sys.exit(1)


async def _soak(seconds: float, every: float) -> Soaked:
    soaked = Soaked()
    with TemporaryDirectory(prefix="soak-") as folder:
        database = Path(folder) / "temporal.db"
        async with (
            EmbeddedServer(db_path=database, headless=True) as server,
            Watched(server.target_host, "governed") as worker,
            Watched(server.target_host, "plain") as plain,
        ):
            app = app_of(CountingSink(), Journey)
            load = Load(await server.connect(plugins=[TemperancePlugin(app)]))
            site = Site(server, database, worker, plain, load)
            began = monotonic()
            for part in PARTS:
                await _under_load(site, soaked, began, seconds * part, every)
                await asyncio.sleep(SETTLES)
                taken, recorded = await sample(monotonic() - began, site)
                soaked.rests.append(taken)
                _tell(taken)
                soaked.done = load.done + Counter(
                    {f"events: {name}": number for name, number in recorded.items()}
                )
    return soaked


async def _under_load(
    site: Site, soaked: Soaked, began: float, seconds: float, every: float
) -> None:
    under_load = asyncio.create_task(site.load.run())
    until = monotonic() + seconds
    while monotonic() < until:
        if under_load.done():
            await under_load  # it failed
        taken, _ = await sample(monotonic() - began, site)
        soaked.samples.append(taken)
        _tell(taken)
        await asyncio.sleep(every)
    site.load.stop()
    await under_load


def _tell(taken: Sample) -> None:
    print(
        f"{taken.seconds / 60:5.1f} min: worker {taken.worker_mib:.0f} MiB "
        f"(control {taken.plain_mib:.0f}), {taken.tasks} tasks, "
        f"{taken.threads}+{taken.pooled} threads, {taken.objects} objects; "
        f"server {taken.server_mib:.0f} MiB, {taken.stored_mib:.0f} MiB stored; "
        f"{taken.runs} runs, {taken.open} under way",
        file=sys.stderr,
        flush=True,
    )


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.soak")
