"""Errors that fail a workflow, and not its task, also on a worker that has no plugin.

The plugin tells the worker which of the library's exceptions do. Where it is missing, which is what
one of these says, only the SDK's own kind of exception does.
"""

from temporalio.exceptions import ApplicationError

from ..runtime.error import ConfigurationError, StepError


class NoPlugin(ConfigurationError, ApplicationError):
    """Raised in workflow code whose worker does not have the `TemperancePlugin`."""

    def __init__(self) -> None:
        problem = (
            "this workflow's worker does not have the TemperancePlugin: give it to "
            "Client.connect(..., plugins=[TemperancePlugin(app)]) or to Worker(..., plugins=[...])"
        )
        ApplicationError.__init__(
            self, problem, type=ConfigurationError.__name__, non_retryable=True
        )
        self.problems = (problem,)


class NoWorkflow(ConfigurationError):
    """Raised by an `Invoker` that is used outside of workflow code."""

    def __init__(self) -> None:
        super().__init__(
            [
                "no workflow is running here: an Invoker asks from workflow code; elsewhere use "
                "TemperanceClient (on Temporal) or Runtime (in this process)"
            ]
        )


class MalformedInvoker(StepError, ApplicationError):
    """Raised in workflow code that makes an `Invoker` of what it cannot be made of."""

    def __init__(self, problem: str) -> None:
        ApplicationError.__init__(self, problem, type=StepError.__name__, non_retryable=True)
