"""Progress: a bar on a terminal, a line for each ticket elsewhere."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text


class Display:
    """Shows how far the work is, and tells news above it."""

    def __init__(self, console: Console, total: int, *, bar: bool = True) -> None:
        self._console = console
        self._lines = not (bar and console.is_terminal)
        self._total = total
        self._done = 0
        self._start = time.monotonic()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=self._lines,
        )
        self._task = self._bar.add_task("tickets", total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def tell(self, news: str, style: str = "") -> None:
        """One line, with the time since the start."""
        seconds = time.monotonic() - self._start
        self._console.print(Text(f"{seconds:6.1f} s  {news}", style))

    def finished(self, ticket: str, outcome: str) -> None:
        """One ticket is done."""
        self._done += 1
        self._bar.advance(self._task)
        if self._lines:
            self.tell(f"[{self._done}/{self._total}] {ticket} {outcome}")
