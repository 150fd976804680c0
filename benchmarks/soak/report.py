"""Shows what a soak came to: on the terminal, as Markdown and as JSON."""

import json
import os
import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version

from rich.console import Console
from rich.table import Table

from .sampling import Sample
from .verdict import Rest, Row, rests_of, rows_of

_HEADINGS = ("second quarter", "last quarter", "growth an hour", "may grow", "")
_WORDS = {True: "flat", False: "GROWS", None: "told only"}


@dataclass
class Soaked:
    """What a soak took.

    Args:
        samples: Those under load.
        rests: Those without: after a third of the time, and at the end.
        done: What was asked for and how it ended, and audit events by type.
    """

    samples: list[Sample] = field(default_factory=list[Sample])
    rests: list[Sample] = field(default_factory=list[Sample])
    done: Counter[str] = field(default_factory=Counter[str])

    @property
    def rows(self) -> list[Row]:
        """See `rows_of`."""
        return rows_of(self.samples)

    @property
    def at_rest(self) -> list[Rest]:
        """See `rests_of`."""
        return rests_of(self.samples, self.rests)

    @property
    def grows(self) -> bool:
        """Whether anything grew beyond its bound."""
        verdicts = [row.flat for row in self.rows] + [rest.flat for rest in self.at_rest]
        return False in verdicts

    @property
    def bytes_stored(self) -> float:
        """How much the database grew for each workflow run, over the second half."""
        half = self.samples[len(self.samples) // 2 :]
        runs = half[-1].runs - half[0].runs
        return (half[-1].stored_mib - half[0].stored_mib) * 2**20 / runs if runs else 0.0


def print_report(soaked: Soaked) -> None:
    """Prints all figures and the verdict on each."""
    console = Console(width=120)
    for title, headings, lines in _tables(soaked):
        table = Table(title=title, box=None, pad_edge=False)
        for number, heading in enumerate(headings):
            table.add_column(heading, justify="right" if number else "left")
        for line in lines:
            table.add_row(*line)
        console.print(table)
    for name, number in sorted(soaked.done.items()):
        console.print(f"{name}: {number:,}")


def as_markdown(soaked: Soaked) -> str:
    """The same for a page."""
    parts: list[str] = []
    for title, headings, lines in _tables(soaked):
        rows = [headings, ("---", *("---:" for _ in headings[1:])), *lines]
        parts.append(
            f"{title}:\n\n" + "\n".join("| " + " | ".join(cells) + " |" for cells in rows) + "\n"
        )
    done = ", ".join(f"{name} {number:,}" for name, number in sorted(soaked.done.items()))
    return "\n".join([*parts, done + "."])


def as_json(soaked: Soaked) -> str:
    """Everything, with what it ran on."""
    return json.dumps(
        {
            "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
            "packages": {name: version(name) for name in ("temperance", "temporalio", "pydantic")},
            "rows": [{**asdict(row), "flat": row.flat} for row in soaked.rows],
            "at rest": [{**asdict(rest), "flat": rest.flat} for rest in soaked.at_rest],
            "bytes stored for each workflow run": soaked.bytes_stored,
            "done": dict(soaked.done),
            "rests": [asdict(rest) for rest in soaked.rests],
            "samples": [asdict(sample) for sample in soaked.samples],
        },
        indent=1,
    )


_Lines = list[tuple[str, ...]]


def _tables(soaked: Soaked) -> Sequence[tuple[str, tuple[str, ...], _Lines]]:
    minutes = soaked.samples[-1].seconds / 60
    return (
        (
            f"Under load, {minutes:.0f} minutes, {len(soaked.samples)} samples",
            ("", *_HEADINGS),
            [_line(row) for row in soaked.rows],
        ),
        (
            "Without load",
            ("", "after a third", "at the end", "may grow", ""),
            [
                (
                    rest.name,
                    f"{rest.first:,.0f}",
                    f"{rest.last:,.0f}",
                    "" if rest.bound is None else f"{rest.bound:,.0f}",
                    _WORDS[rest.flat],
                )
                for rest in soaked.at_rest
            ],
        ),
    )


def _line(row: Row) -> tuple[str, ...]:
    unit = f" {row.unit}" if row.unit else ""
    places = 1 if row.unit else 0
    return (
        row.name,
        f"{row.early:,.{places}f}{unit}",
        f"{row.late:,.{places}f}{unit}",
        f"{row.growth:+,.1f}{unit}",
        "" if row.bound is None else f"{row.bound:,.0f}{unit}",
        _WORDS[row.flat],
    )
