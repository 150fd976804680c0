"""Whether a patch marker that is written now would be found by a replay (decision 0018).

A replay learns of a patch marker when it comes to the workflow task that wrote it. A local activity
may end while a query has its workflow task answered: then its own marker is in that task, and what
the workflow did upon it in the next one. A replay hands the result out with the earlier task, asks
there whether there is a patch marker, and finds none. Seen on the real server: with queries all the
time, nearly every run in which `workflow.patched` came after a local activity could not be replayed
any more. So all local activities of a run are watched, those written by hand too.
"""

import asyncio
from typing import Any

from temporalio import workflow
from temporalio.worker import StartLocalActivityInput, WorkflowOutboundInterceptor

from .run import GovernedRun


class LocalWatch(WorkflowOutboundInterceptor):
    """Notes the workflow tasks in which a local activity of an earlier one has ended.

    Args:
        inner: The next interceptor.
        run: The run that is told.
    """

    def __init__(self, inner: WorkflowOutboundInterceptor, run: GovernedRun) -> None:
        super().__init__(inner)
        self._run = run

    def start_local_activity(
        self, input: StartLocalActivityInput
    ) -> workflow.ActivityHandle[Any]:  # of whatever the activity returns
        """Starts it, and notes when it ends."""
        handle = super().start_local_activity(input)
        # Each workflow task adds to history, so its length tells them apart.
        began = workflow.info().get_current_history_length()

        def ended(_: "asyncio.Task[Any]") -> None:
            now = workflow.info().get_current_history_length()
            if now != began:
                self._run.outbox.local.doubtful_task = now

        handle.add_done_callback(ended)
        return handle


def is_doubtful(run: GovernedRun) -> bool:
    """Whether a patch marker that is written in the present workflow task may be missed."""
    return run.outbox.local.doubtful_task == workflow.info().get_current_history_length()
