"""How many examples a target gets: few and always the same in `make test`, many in `make fuzz`.

`make fuzz` sets ``FUZZ_EXAMPLES`` and ``FUZZ_DATABASE``; without them every run of the suite tries
the same examples, so that it fails for a change and never by chance.
"""

import os
from typing import Final

from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

QUICK: Final = 25
"""Examples of a target of full share in `make test`."""

EXAMPLES: Final = int(os.environ.get("FUZZ_EXAMPLES", "0"))
"""Examples of a target of full share in `make fuzz`; 0 in `make test`."""

PATIENCE: Final = 60
"""Seconds after which an example counts as one that hangs; nothing waits so long by itself."""

_UNHEALTHY: Final = (
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
    HealthCheck.filter_too_much,
    # The session's server is shared; every example takes ids of its own.
    HealthCheck.function_scoped_fixture,
)


def budget(share: float = 1.0) -> settings:
    """The settings of a target.

    Args:
        share: Of the examples that a cheap target gets; what needs a server gets fewer.

    Returns:
        A decorator for a test with ``@given``.
    """
    if not EXAMPLES:
        return settings(
            max_examples=max(1, round(QUICK * share)),
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=_UNHEALTHY,
        )
    folder = os.environ.get("FUZZ_DATABASE")
    return settings(
        max_examples=max(1, round(EXAMPLES * share)),
        deadline=None,
        database=None if folder is None else DirectoryBasedExampleDatabase(folder),
        print_blob=True,
        suppress_health_check=_UNHEALTHY,
    )
