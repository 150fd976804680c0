"""A secret, planted wherever an application may hold one, that must come out nowhere (G10)."""

import logging
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Final

SECRET: Final = "planted-7f1b2c-secret"
"""Text that no example makes by itself."""


class Lines(logging.Handler):
    """Keeps what every logger writes, as a handler with a stack would write it."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.kept: list[str] = []
        self.setFormatter(logging.Formatter("%(name)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Keeps one line, and whatever else the record carries."""
        extra = {key: value for key, value in vars(record).items() if key != "exc_info"}
        self.kept.append(f"{self.format(record)} {extra}")


@contextmanager
def listening() -> Generator[list[str]]:
    """The lines that are logged meanwhile, by whatever logger, from the lowest level on."""
    root, handler = logging.getLogger(), Lines()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield handler.kept
    finally:
        root.setLevel(level)
        root.removeHandler(handler)


def leaks(texts: Iterable[str | bytes]) -> list[str]:
    """Those of the texts that have the secret in them, cut around it."""
    found: list[str] = []
    for text in texts:
        shown = text.decode(errors="replace") if isinstance(text, bytes) else text
        place = shown.find(SECRET)
        if place >= 0:
            found.append(shown[max(place - 120, 0) : place + 60])
    return found
