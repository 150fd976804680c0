"""The local activity that records what only the workflow could see (DESIGN section 9).

Server timeouts, cancellation before a start, requests that were refused in workflow code. It writes
to the audit sinks only, which drop what they already have: a local activity whose worker dies runs
again.
"""

from collections.abc import Awaitable, Callable

from temporalio import activity

from ..runtime.app import App
from ..runtime.attempt import record_end
from ..runtime.call import Call
from ..runtime.messages import UNSEEN, Ask
from ..runtime.names import RECORD_ACTIVITY
from ..runtime.reconciling import Found, record_reconciled
from ..runtime.request import WorkflowRef
from .grant import authorized, grant_of
from .identity import Origins, identify

RecordActivity = Callable[[str], Awaitable[list[str]]]


def record_activity(app: App, origins: Origins) -> RecordActivity:
    """Makes the recording activity of an application.

    Args:
        app: Whose sinks.
        origins: The worker's reader of original run ids.

    Returns:
        A local activity: takes an `Unseen` as JSON text, answers the execution id and, where it
        repeats another, the id of that.
    """

    @activity.defn(name=RECORD_ACTIVITY)
    async def record(unseen_json: str) -> list[str]:
        unseen = UNSEEN.validate_json(unseen_json)
        ask = Ask.from_json(unseen.ask.encode())
        info = activity.info()
        identity = await identify(info, ask, origins, unseen.step)
        identity = authorized(identity, ask, grant_of(info, ask))
        call = Call(
            capability_id=unseen.capability,
            raw=None,
            actor=ask.actor,
            surface=ask.surface,
            execution_id=identity.execution_id,
            attempt=max(unseen.attempts, 1),
            repeat_of=identity.repeat_of,
            correlation_id=ask.correlation_id,
            workflow=WorkflowRef(info.workflow_id or "", info.workflow_run_id or "", unseen.step),
            rerun=identity.rerun,
        )
        if unseen.verdict is None:
            await record_end(
                app,
                call,
                unseen.error(),
                unseen.effect,
                cancelled=unseen.cancelled,
                requested=unseen.requested,
            )
        else:
            found, error = Found(unseen.verdict), unseen.error()
            await record_reconciled(app, call, found, unseen.effect, error=error)
        repeats = [] if identity.repeat_of is None else [identity.repeat_of]
        return [identity.execution_id, *repeats]

    return record
