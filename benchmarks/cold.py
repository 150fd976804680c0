"""The same calls with empty caches, as they are between two tasks of a worker.

A worker that has little to do comes back to the library's code after the server, the SDK's threads
and the kernel have used the processor's caches for something else. Most of what a governed
execution takes there is waiting for memory: how much, a call tells before which the caches were
filled with zeros.
"""

from collections.abc import Awaitable, Callable, Mapping
from time import thread_time
from typing import Final

from .figures import Figure, summary

Call = Callable[[], Awaitable[object]]

ZEROS: Final = bytearray(48 * 1024 * 1024)
"""More than the caches of one processor hold; copied, it goes through all of them."""

WARM_UP: Final = 200


async def with_empty_caches(arms: Mapping[str, Call], count: int) -> list[Figure]:
    """Takes the processor time of single calls, the arms in turns.

    Args:
        arms: The calls.
        count: How many of each.
    """
    taken: dict[str, list[float]] = {name: [] for name in arms}
    for call in arms.values():
        for _ in range(WARM_UP):
            await call()
    for _ in range(count):
        for name, call in arms.items():
            bytes(ZEROS)
            began = thread_time()
            await call()
            taken[name].append((thread_time() - began) * 1e6)
    return [
        summary("in process", "empty caches", name, "us", values) for name, values in taken.items()
    ]
