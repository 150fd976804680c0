"""Gives every run its `GovernedRun`, and lets a public error fail the workflow as itself."""

import asyncio
from typing import Any, NoReturn

from temporalio import workflow
from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.worker import (
    ExecuteWorkflowInput,
    HandleSignalInput,
    HandleUpdateInput,
    Interceptor,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)

from ..runtime.app import App
from ..runtime.error import CapabilityError, ConfigurationError, StepError
from .local_watch import LocalWatch
from .options import Options
from .run import CURRENT, GovernedRun
from .waiting import withdraw_all

PUBLIC_ERRORS: tuple[type[Exception], ...] = (CapabilityError, StepError, ConfigurationError)
"""Exceptions of the library that fail a workflow, never its task."""


class GovernedInterceptor(Interceptor):
    """The worker interceptor.

    Args:
        app: The application that the worker serves.
    """

    def __init__(self, app: App) -> None:
        self.app = app
        self._options = Options(app)

    def workflow_interceptor_class(
        self, input: WorkflowInterceptorClassInput
    ) -> type[WorkflowInboundInterceptor] | None:
        """A class bound to the application: the SDK makes one instance per workflow run."""
        del input
        app, options = self.app, self._options

        class Bound(GovernedInbound):
            def __init__(self, inner: WorkflowInboundInterceptor) -> None:
                super().__init__(inner)
                self.governed = GovernedRun(app, options)

        return Bound


class GovernedInbound(WorkflowInboundInterceptor):
    """The inbound interceptor of one run."""

    governed: GovernedRun

    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        """Watches local activities, because runs write patch markers."""
        super().init(LocalWatch(outbound, self.governed))

    # The results below are the workflow's own.
    async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:
        """Runs the workflow with its `GovernedRun`."""
        CURRENT.set(self.governed)
        try:
            result = await super().execute_workflow(input)
        except (Exception, asyncio.CancelledError) as error:
            await withdraw_all(self.governed)
            if isinstance(error, CapabilityError):
                _fail(error)
            raise
        await withdraw_all(self.governed)
        return result

    async def handle_signal(self, input: HandleSignalInput) -> None:
        """Handles a signal with the run's `GovernedRun`."""
        CURRENT.set(self.governed)
        try:
            await super().handle_signal(input)
        except CapabilityError as error:
            _fail(error)

    def handle_update_validator(self, input: HandleUpdateInput) -> None:
        """Validates an update with the run's `GovernedRun`."""
        CURRENT.set(self.governed)
        super().handle_update_validator(input)

    async def handle_update_handler(self, input: HandleUpdateInput) -> Any:
        """Handles an update with the run's `GovernedRun`."""
        CURRENT.set(self.governed)
        try:
            return await super().handle_update_handler(input)
        except CapabilityError as error:
            _fail(error)


def _fail(error: CapabilityError) -> NoReturn:
    """A cancelled execution ends a cancelled workflow as cancelled; others name their code."""
    if error.code == "CANCELLED" and workflow.cancellation_reason() is not None:
        raise CancelledError(error.public_message) from None
    info = error.public()
    raise ApplicationError(
        info.message, info.model_dump(exclude_none=True), type=info.code
    ) from None
