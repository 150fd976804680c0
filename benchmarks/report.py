"""Shows the figures as a table and as JSON, and says whether the budgets are kept."""

import json
import os
import platform
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version

from rich.console import Console
from rich.table import Table

from .figures import NOISE, Figure, Result, Skipped

PACKAGES = ("temperance", "temporalio", "pydantic", "structlog", "orjson")
"""Those that may have a part in a figure; one that is not installed is left out."""
WIDTH = 130


def print_table(results: Sequence[Result], *, title: str = "What governance costs") -> None:
    """Prints all figures, and what could not be measured or claimed."""
    table = Table(title=title, box=None, pad_edge=False)
    for name in ("benchmark", "figure", "arm"):
        table.add_column(name, no_wrap=True)
    for name in ("value", "quartiles", "budget"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for result in results:
        match result:
            case Skipped():
                table.add_row(result.benchmark, "skipped", result.reason)
            case Figure():
                table.add_row(*_cells(result))
    Console(width=WIDTH).print(table)
    noisy = {
        result.benchmark for result in results if isinstance(result, Figure) and not result.claimed
    }
    for benchmark in sorted(noisy):
        print(
            f"{benchmark}: two equal arms are more than {NOISE:.0%} apart; "
            "this run claims nothing about the ratios marked so."
        )


def as_json(results: Sequence[Result], *, quick: bool) -> str:
    """All figures with what they were measured on, as JSON."""
    return json.dumps(
        {
            "quick": quick,
            "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
            "packages": versions(PACKAGES),
            "figures": [
                {**asdict(result), "over": result.over}
                for result in results
                if isinstance(result, Figure)
            ],
            "skipped": [asdict(result) for result in results if isinstance(result, Skipped)],
        },
        indent=2,
    )


def versions(names: Sequence[str]) -> dict[str, str]:
    """The versions of those packages that are installed."""
    found: dict[str, str] = {}
    for name in names:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def verdict(results: Sequence[Result]) -> int:
    """The exit code: 0 budgets kept, 1 one exceeded, 3 not all could be claimed."""
    figures = [result for result in results if isinstance(result, Figure)]
    if any(figure.over for figure in figures):
        return 1
    return 3 if any(figure.budget is not None and not figure.claimed for figure in figures) else 0


def _cells(figure: Figure) -> tuple[str, ...]:
    spread = (
        ""
        if figure.low is None or figure.high is None
        else f"{_number(figure.low)} to {_number(figure.high)}"
    )
    if not figure.claimed:
        word = "noisy: not claimed"
    elif figure.budget is None:
        word = ""
    else:
        word = "over" if figure.over else "kept"
    return (
        figure.benchmark,
        figure.name,
        figure.arm,
        f"{_number(figure.value)} {figure.unit}",
        spread,
        "" if figure.budget is None else _number(figure.budget),
        word,
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3f}" if value < 10 else f"{value:.1f}"
