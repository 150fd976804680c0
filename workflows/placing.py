"""Whether an execution runs inside the asking worker, decided once for each run (decision 0018).

Placement decides which commands a workflow gives, and history must give the same again. So the run
keeps to what it did first: a patch marker says that a capability runs locally in it, no marker that
it does not. A capability whose placement is changed runs as before in the runs that have asked for
it, and otherwise in those that have not. Where a marker would not be found again, the run has the
capability run as an activity of its own.
"""

from typing import Any

from temporalio import workflow

from ..runtime.capability import Capability
from ..runtime.names import LOCAL_PATCH
from ..runtime.placement import runs_locally
from .local_watch import is_doubtful
from .run import GovernedRun


def is_local(
    run: GovernedRun,
    capability: Capability[Any, Any],  # of any input and output
    task_queue: str | None,
) -> bool:
    """Whether the next execution of a capability is a local activity.

    Args:
        run: The run.
        capability: What is asked for.
        task_queue: Where the caller wants it run, if that was said. Not compared with the
            workflow's own: that has another name in a replayer.

    Returns:
        ``False`` also where a task queue is asked for, or this worker does not have the capability:
        then the server finds one that has.
    """
    if task_queue is not None:
        return False
    known = run.placed.get(capability.id)
    if known is None:
        known = run.placed[capability.id] = _decide(run, capability)
    return known


def _decide(run: GovernedRun, capability: Capability[Any, Any]) -> bool:
    patch = LOCAL_PATCH + capability.id
    if workflow.unsafe.is_replaying():
        # Whatever the metadata says by now; nothing is recorded.
        return workflow.patched(patch)
    # By its id: a module that defines a workflow is run again in the sandbox, with all that it has.
    served = run.app.governance.registry.get(capability.id)
    here = served is not None and runs_locally(served)
    return here and not is_doubtful(run) and workflow.patched(patch)
