"""What the library knows of one workflow run: the governed surface and the steps taken so far.

The worker's interceptor makes one of these per run and puts it into the context of every entry
point (main, signals, updates), so that all `Invoker` objects of a run share it, and runs share
nothing.
"""

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final
from weakref import WeakSet

from temporalio import workflow

from ..runtime.app import App
from .absent import Absent
from .fatal import NoPlugin, NoWorkflow
from .options import Options
from .outbox import Outbox
from .pending import Approvals
from .steps import Steps

CURRENT: Final[ContextVar["GovernedRun"]] = ContextVar("temperance_run")


def _no_tasks() -> "WeakSet[asyncio.Task[object]]":
    return WeakSet()


@dataclass(slots=True)
class GovernedRun:
    """One workflow run.

    Args:
        app: The application that the worker serves.
        options: The activity options of its capabilities, shared by all runs.
        steps: The steps taken so far.
        approvals: The approvals asked for so far.
        outbox: What was sent in the present workflow task.
        placed: Capabilities that this run has asked for, and whether they run locally in it.
        cancelled: Tasks that are still to be told of a cancellation which arrived while an
            execution was being brought to its end.
        asking: Whether the run asks what became of writes, and runs some again, by patch id.
        absent: Executions that did not happen, by their ids.
    """

    app: App
    options: Options
    steps: Steps = field(default_factory=Steps)
    approvals: Approvals = field(default_factory=Approvals)
    outbox: Outbox = field(default_factory=Outbox)
    placed: dict[str, bool] = field(default_factory=dict[str, bool])
    cancelled: "WeakSet[asyncio.Task[object]]" = field(default_factory=_no_tasks)
    asking: dict[str, bool] = field(default_factory=dict[str, bool])
    absent: dict[str, Absent] = field(default_factory=dict[str, Absent])


def current_run() -> GovernedRun:
    """The run that the calling workflow code belongs to.

    Raises:
        ConfigurationError: The worker has no `TemperancePlugin`, or the code does not run in a
            workflow; the message says which.
    """
    try:
        return CURRENT.get()
    except LookupError:
        if not workflow.in_workflow():
            raise NoWorkflow from None
        raise NoPlugin from None
