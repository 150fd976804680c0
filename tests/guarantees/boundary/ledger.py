"""What handlers did to the world."""

from pathlib import Path


class Ledger:
    """One line for each effect, in a file that the test owns."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, line: str) -> None:
        """Note an effect."""
        with self.path.open("a") as file:
            file.write(f"{line}\n")

    def lines(self) -> list[str]:
        """The effects so far."""
        return self.path.read_text().splitlines() if self.path.exists() else []
