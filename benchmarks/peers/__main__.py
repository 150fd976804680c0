"""The command line: `python -m benchmarks.peers`, or `make bench-peers`."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click
from rich.console import Console
from rich.table import Table

from benchmarks.figures import Figure
from benchmarks.report import as_json, print_table, versions
from temperance.embedded import EmbeddedServer, EmbeddedServerError

from .arms import ARMS
from .facts import Fact, facts
from .measure import measure

PEERS: Final = ("pydantic-ai-slim", "temporalio-openai-agents", "openai-agents")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--quick", is_flag=True, help="Two blocks of five calls: to see that it runs.")
@click.option("--blocks", type=click.IntRange(min=2), default=20, show_default=True)
@click.option("--calls", type=click.IntRange(min=1), default=20, show_default=True)
@click.option(
    "--json",
    "path",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write all figures and facts to this file, as JSON.",
)
def main(quick: bool, blocks: int, calls: int, path: Path | None) -> None:
    """Measure an agent that calls a tool: by hand, governed, and with the plugins that exist.

    Every arm has the same scripted model and the same tool, and calls it as often, one call for
    each turn of the model. Arms take turns, each on a worker process of its own. A run in which
    the arms did not do the same work fails.
    """
    installed = versions(PEERS)
    missing = [name for name in PEERS if name not in installed]
    if missing:
        raise click.ClickException(
            f"{', '.join(missing)} missing: run `make bench-peers`, which has its own environment"
        )
    if quick:
        blocks, calls = 2, 5
    try:
        figures, found = asyncio.run(_all(blocks, calls))
    except (EmbeddedServerError, RuntimeError) as error:
        raise click.ClickException(str(error)) from error
    print_table(figures, title=f"One tool call and one model turn, of {calls} in a run")
    _print_facts(found)
    print(", ".join(f"{name} {number}" for name, number in installed.items()))
    if path is not None:
        told = json.loads(as_json(figures, quick=quick))
        told["packages"] |= installed
        told |= {"calls": calls, "facts": [asdict(fact) for fact in found]}
        path.write_text(json.dumps(told, indent=2) + "\n")


async def _all(blocks: int, calls: int) -> tuple[list[Figure], list[Fact]]:
    with TemporaryDirectory(prefix="peers-") as folder:
        async with EmbeddedServer(headless=True) as server:
            client = await server.connect()
            where = Path(folder)
            figures = await measure(client, server.target_host, where, blocks, calls)
            return figures, await facts(client, server.target_host, where)


def _print_facts(found: Sequence[Fact]) -> None:
    table = Table(title="A tool that writes, as each arm is by default", box=None, pad_edge=False)
    table.add_column("")
    for arm in ARMS:
        table.add_column(arm)
    for name in dict.fromkeys(fact.name for fact in found):
        told = {fact.arm: fact.told for fact in found if fact.name == name}
        table.add_row(name, *(told[arm] for arm in ARMS))
    Console(width=130).print(table)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.peers")
