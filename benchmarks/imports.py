"""Counts how often the catalogue was imported in this process; passes the workflow sandbox."""

_count = 0


def count_one() -> None:
    """Notes an import."""
    global _count  # noqa: PLW0603 - the one number that this module is for
    _count += 1


def counted() -> int:
    """How many were noted."""
    return _count
