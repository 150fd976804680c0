"""A process that says `ready`, and does nothing until it is asked to end."""

import os
import signal
import sys
from types import FrameType


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def end(_: int, __: FrameType | None) -> None:
    say("asked to end")
    sys.exit(0)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, end)
    say(os.environ.get("IDLE_GREETING", ""))
    say("ready")
    while True:
        signal.pause()
