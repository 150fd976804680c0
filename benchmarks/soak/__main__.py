"""The command line: `python -m benchmarks.soak`, or `make soak ARGS="--minutes 30"`."""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import click
from rich.console import Console
from rich.table import Table

from temperance import TemperancePlugin
from temperance.embedded import EmbeddedServer, EmbeddedServerError

from .journey import Journey
from .load import Load
from .sampling import Sample, Watched, sample
from .shop import CountingSink, app_of
from .verdict import Row, rows_of


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
def main(minutes: float, every: float, path: Path | None) -> None:
    """Put mixed load on a worker and a server for a long time, and see whether they grow.

    A run of less than ten minutes is told but not judged.

    Exit code: 0 when everything that has a bound kept it, 1 when something grew, 2 when the
    command line is wrong.
    """
    try:
        samples, done = asyncio.run(_soak(minutes * 60, every))
        rows = rows_of(samples)
    except (EmbeddedServerError, RuntimeError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    _print(rows, samples, done)
    if path is not None:
        record = {
            "rows": [{**asdict(row), "flat": row.flat} for row in rows],
            "done": dict(done),
            "samples": [asdict(sample) for sample in samples],
        }
        path.write_text(json.dumps(record, indent=1) + "\n")
    if any(row.flat is False for row in rows):
        sys.exit(1)


async def _soak(seconds: float, every: float) -> tuple[list[Sample], Counter[str]]:
    samples: list[Sample] = []
    with TemporaryDirectory(prefix="soak-") as folder:
        database = Path(folder) / "temporal.db"
        async with (
            EmbeddedServer(db_path=database, headless=True) as server,
            Watched(server.target_host, "governed") as worker,
            Watched(server.target_host, "plain") as plain,
        ):
            app = app_of(CountingSink(), Journey)
            load = Load(await server.connect(plugins=[TemperancePlugin(app)]))
            under_load = asyncio.create_task(load.run())
            began, recorded = monotonic(), dict[str, int]()
            while (now := monotonic() - began) < seconds:
                if under_load.done():
                    await under_load
                if server.pid is None:
                    raise RuntimeError("the server ended")
                taken, recorded = await sample(
                    now,
                    worker,
                    plain,
                    server=server.pid,
                    database=database,
                    open_=load.open,
                )
                samples.append(taken)
                _tell(taken, seconds)
                await asyncio.sleep(every)
            under_load.cancel()
            await asyncio.wait([under_load])
            return samples, load.done + Counter({f"events: {k}": n for k, n in recorded.items()})


def _tell(taken: Sample, seconds: float) -> None:
    print(
        f"{taken.seconds / 60:5.1f} of {seconds / 60:.1f} min: "
        f"worker {taken.worker_mib:.0f} MiB (control {taken.plain_mib:.0f}), "
        f"{taken.tasks} tasks, {taken.threads} threads; server {taken.server_mib:.0f} MiB, "
        f"{taken.stored_mib:.0f} MiB stored; {taken.events} events, {taken.open} under way",
        file=sys.stderr,
        flush=True,
    )


def _print(rows: Sequence[Row], samples: Sequence[Sample], done: Counter[str]) -> None:
    console = Console()
    table = Table(title=f"{samples[-1].seconds / 60:.0f} minutes, {len(samples)} samples")
    table.add_column("")
    for heading in ("second quarter", "last quarter", "growth an hour", "may grow", ""):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            row.name,
            f"{row.early:,.1f} {row.unit}",
            f"{row.late:,.1f} {row.unit}",
            f"{row.growth:+,.1f} {row.unit}",
            "" if row.bound is None else f"{row.bound:,.0f} {row.unit}",
            {True: "flat", False: "GROWS", None: "told only"}[row.flat],
        )
    console.print(table)
    for name, number in sorted(done.items()):
        console.print(f"{name}: {number:,}")


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.soak")
