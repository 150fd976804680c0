"""How a process under test tells its parent something."""

import json
import sys


def say(value: object) -> None:
    """Writes one line of JSON."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()
