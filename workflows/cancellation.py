"""Cancellation in workflow code: an execution comes to its end first (G7, DESIGN section 8).

When the workflow is cancelled, whoever awaits an execution gets its envelope, because a bare
`CancelledError` would lose what the execution did to the world; the cancellation is delivered at
the task's next ``await``. When only the calling task is cancelled, by asyncio's own means
(``asyncio.timeout``, a task group), these expect the exception: it is raised once the execution has
ended.
"""

import asyncio
from typing import Any, Final

from temporalio import workflow

from .run import GovernedRun

TURNS: Final = 4
"""Turns of the loop in which a result that has already arrived can become known."""


class Cancellations:
    """The cancellations that reach one request while it is brought to its end.

    Args:
        run: The workflow run.
    """

    __slots__ = ("_run", "_workflow_was_cancelled", "arrived")

    def __init__(self, run: GovernedRun) -> None:
        self._run = run
        self._workflow_was_cancelled = workflow.cancellation_reason() is not None
        self.arrived = False
        """Whether one arrived."""

    # An activity, or another task, of any result.
    async def until_done(self, handle: "asyncio.Task[Any]", *, stop: bool) -> None:
        """Waits for the end of an activity, however often the calling task is cancelled.

        A result that has already arrived wins over a cancellation that came with it, in one
        workflow task: the SDK would drop it if the activity were cancelled before the result has
        had its turn.

        Args:
            handle: The activity. How it ended is for the caller to look at.
            stop: Whether a cancellation is handed on to the activity, or only remembered.
        """
        turns = TURNS
        stopped = not stop
        while not handle.done():
            try:
                if not self.arrived or stopped:
                    await _turn_of(handle)
                elif turns:
                    turns -= 1
                    await asyncio.sleep(0)
                else:
                    stopped = True
                    handle.cancel()
            except asyncio.CancelledError:
                self.arrived = True

    def hand_on(self) -> None:
        """Sees to it that a cancellation which arrived is not lost. Call this last.

        Raises:
            asyncio.CancelledError: Only the calling task was cancelled, by asyncio's own means.
        """
        if not self.arrived:
            return
        if self._workflow_was_cancelled or workflow.cancellation_reason() is None:
            raise asyncio.CancelledError
        task = asyncio.current_task()
        if task is not None:
            self._run.cancelled.add(task)
            # Not at once: a task that ends with this envelope must keep it.
            asyncio.get_running_loop().call_soon(_cancel_again, task)


async def _turn_of(handle: "asyncio.Task[Any]") -> None:
    """Waits until a task is done, as `asyncio.wait` does: being cancelled does not cancel the task.

    In as many turns of the loop, and without that function's questions about its arguments, which
    take a tenth of a request's processor time in the sandbox.
    """
    waiter = asyncio.get_running_loop().create_future()

    def wake(_: object) -> None:
        if not waiter.done():
            waiter.set_result(None)

    handle.add_done_callback(wake)
    try:
        await waiter
    finally:
        handle.remove_done_callback(wake)


async def deliver_cancellation(run: GovernedRun) -> None:
    """Lets a cancellation that was handed on arrive before anything new is started.

    Args:
        run: The workflow run.

    Raises:
        asyncio.CancelledError: There was one.
    """
    if not run.cancelled:
        return
    task = asyncio.current_task()
    if task is not None and task in run.cancelled:
        run.cancelled.discard(task)
        await asyncio.sleep(0)


def _cancel_again(task: "asyncio.Task[object]") -> None:
    task.uncancel()
    task.cancel()
