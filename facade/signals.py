"""How a process that serves is asked to stop: once to finish, twice to end."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def stop_on_signal(
    stop: asyncio.Event, *, last_words: Callable[[], None] | None = None
) -> Generator[None]:
    """Sets an event when the process gets SIGTERM or SIGINT; a second one ends it at once.

    The handlers that were there before are put back at the end. Outside of the main thread, which
    alone may handle signals, nothing is done.

    Args:
        stop: Set by the first signal.
        last_words: Called before a second one ends the process.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()

    def ask_to_stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        for entry in STOP_SIGNALS:
            signal.signal(entry, end_at_once)
        # A signal handler may run in the middle of the loop's own work: this also wakes it.
        loop.call_soon_threadsafe(stop.set)

    def end_at_once(number: int, frame: FrameType | None) -> None:
        del frame
        if last_words is not None:
            last_words()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    before = {entry: signal.signal(entry, ask_to_stop) for entry in STOP_SIGNALS}
    try:
        yield
    finally:
        for entry, handler in before.items():
            signal.signal(entry, handler)
