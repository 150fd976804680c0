"""`TemperancePlugin`: all that client, worker and replayer need, in one place (DESIGN section 11).

::

    client = await Client.connect("localhost:7233", plugins=[TemperancePlugin(app)])
    worker = Worker(client, task_queue="orders", workflows=[SupportTicket])

Workers inherit it from their client. Given to both it acts once.
"""

import dataclasses
import inspect
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Final, cast

import temporalio.client
import temporalio.worker
from temporalio.client import ClientConfig, WorkflowHistory
from temporalio.contrib.pydantic import PydanticPayloadConverter
from temporalio.converter import DataConverter, DefaultPayloadConverter
from temporalio.service import ConnectConfig, ServiceClient
from temporalio.worker import (
    Replayer,
    ReplayerConfig,
    Worker,
    WorkerConfig,
    WorkflowReplayResult,
    WorkflowRunner,
)
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from temperance.activities.approvals import attach, record_approval_activity
from temperance.activities.attempt_log import quiet_attempt_failures
from temperance.activities.governed import governed_activity
from temperance.activities.identity import Origins
from temperance.activities.reconcile import reconcile_activity
from temperance.activities.record import record_activity
from temperance.activities.structlog_sink import StructlogSink
from temperance.completeness import problems_of_cache, problems_of_worker
from temperance.runtime.app import App
from temperance.runtime.error import ConfigurationError
from temperance.sandbox_runner import lean
from temperance.workflows.approval import ApprovalWorkflow
from temperance.workflows.interceptor import PUBLIC_ERRORS, GovernedInterceptor

GRACE: Final = timedelta(seconds=10)
"""How long attempts may go on when the worker shuts down; the SDK's own default is not at all."""

THROTTLE: Final = timedelta(seconds=1)
"""Longest interval between heartbeats that are really sent: a cancellation arrives with one."""

PASSED_THROUGH: Final = ("temperance", "structlog")


class TemperancePlugin(temporalio.client.Plugin, temporalio.worker.Plugin):
    """Serves an application's capabilities, and lets its workflows ask for them.

    On a client it sets pydantic as payload converter and leaves codec, failure converter and
    external storage as they are. On a worker it adds one activity per capability, the interceptor,
    the failure exception types, what may pass the workflow sandbox, a heartbeat throttle of one
    second and a grace period of ten for shutdown; other intervals that are set on the worker are
    kept, unless they are the SDK's own defaults. On a replayer it adds what replaying needs.

    Args:
        app: The application.
        passthrough: Further modules that pass the workflow sandbox.

    Raises:
        ConfigurationError: Raised by client or worker, where the application cannot be served as
            they are set up; lists every reason.
    """

    def __init__(self, app: App, *, passthrough: Iterable[str] = ()) -> None:
        given: object = app
        if not isinstance(given, App):
            raise ConfigurationError(
                [f"TemperancePlugin: give an App(Governance(...)), not a {type(given).__name__}"]
            )
        self.app = (
            app if app.sinks is not None else dataclasses.replace(app, sinks=(StructlogSink(),))
        )
        self._passthrough = tuple(passthrough)

    def name(self) -> str:
        """The plugin's name, as the server shows it with the worker."""
        return "temperance.TemperancePlugin"

    def configure_client(self, config: ClientConfig) -> ClientConfig:
        """Sets the payload converter."""
        config["data_converter"] = _with_pydantic(config.get("data_converter"))
        return config

    async def connect_service_client(
        self,
        config: ConnectConfig,
        next: Callable[[ConnectConfig], Awaitable[ServiceClient]],  # noqa: A002 - the SDK's own name
    ) -> ServiceClient:
        """Connects as the SDK does."""
        return await next(config)

    def configure_worker(self, config: WorkerConfig) -> WorkerConfig:
        """Adds what a worker needs, once."""
        interceptors = list(config.get("interceptors") or ())
        if any(self._is_own(interceptor) for interceptor in interceptors):
            return config
        client = config.get("client")
        if client is None:
            raise ConfigurationError(["Worker(client, ...): give a connected client"])
        given = cast(Sequence[Callable[..., object]], config.get("activities") or ())
        activities = list(given)
        problems = problems_of_worker(self.app, client, activities)
        problems += problems_of_cache(self.app, config.get("max_cached_workflows"))
        if problems:
            raise ConfigurationError(problems)
        origins = Origins(client)
        activities += [
            governed_activity(self.app, entry, origins) for entry in self.app.governance.registry
        ]
        activities += [
            reconcile_activity(self.app, entry, origins)
            for entry in self.app.governance.registry
            if entry.reconcile is not None
        ]
        activities += [
            record_activity(self.app, origins),
            record_approval_activity(self.app),
            attach,
        ]
        quiet_attempt_failures()
        config["activities"] = activities
        config["interceptors"] = [*interceptors, GovernedInterceptor(self.app)]
        workflows = list(config.get("workflows") or ())
        own = (*self.app.workflows, ApprovalWorkflow)
        workflows += [entry for entry in own if entry not in workflows]
        config["workflows"] = workflows
        config["workflow_failure_exception_types"] = _with_public_errors(
            config.get("workflow_failure_exception_types")
        )
        config["workflow_runner"] = self._runner(
            config.get("workflow_runner"), workflows, client.data_converter
        )
        config["max_heartbeat_throttle_interval"] = _chosen(
            config.get("max_heartbeat_throttle_interval"),
            "max_heartbeat_throttle_interval",
            THROTTLE,
        )
        config["default_heartbeat_throttle_interval"] = _chosen(
            config.get("default_heartbeat_throttle_interval"),
            "default_heartbeat_throttle_interval",
            THROTTLE,
        )
        config["graceful_shutdown_timeout"] = _chosen(
            config.get("graceful_shutdown_timeout"), "graceful_shutdown_timeout", GRACE
        )
        return config

    async def run_worker(
        self,
        worker: Worker,
        next: Callable[[Worker], Awaitable[None]],  # noqa: A002 - the SDK's own name
    ) -> None:
        """Runs the worker as the SDK does."""
        await next(worker)

    def configure_replayer(self, config: ReplayerConfig) -> ReplayerConfig:
        """Adds what replaying needs: no activity is ever run by it (G6)."""
        interceptors = list(config.get("interceptors") or ())
        if any(self._is_own(interceptor) for interceptor in interceptors):
            return config
        workflows = list(config.get("workflows") or ())
        own = (*self.app.workflows, ApprovalWorkflow)
        workflows += [entry for entry in own if entry not in workflows]
        config["workflows"] = workflows
        config["data_converter"] = _with_pydantic(config.get("data_converter"))
        config["interceptors"] = [*interceptors, GovernedInterceptor(self.app)]
        config["workflow_failure_exception_types"] = _with_public_errors(
            config.get("workflow_failure_exception_types")
        )
        config["workflow_runner"] = self._runner(
            config.get("workflow_runner"), workflows, config["data_converter"]
        )
        return config

    def run_replayer(
        self,
        replayer: Replayer,
        histories: AsyncIterator[WorkflowHistory],
        next: Callable[  # noqa: A002 - the SDK's own name
            [Replayer, AsyncIterator[WorkflowHistory]],
            AbstractAsyncContextManager[AsyncIterator[WorkflowReplayResult]],
        ],
    ) -> AbstractAsyncContextManager[AsyncIterator[WorkflowReplayResult]]:
        """Replays as the SDK does."""
        return next(replayer, histories)

    def _is_own(self, interceptor: object) -> bool:
        if not isinstance(interceptor, GovernedInterceptor):
            return False
        if interceptor.app.governance is not self.app.governance:
            raise ConfigurationError(
                [
                    "two TemperancePlugins with different applications meet in one worker: give it "
                    "a client of its own application, one worker for each"
                ]
            )
        return True

    def _runner(
        self, runner: WorkflowRunner | None, workflows: list[type], converter: DataConverter
    ) -> WorkflowRunner:
        runner = runner or SandboxedWorkflowRunner()
        if not isinstance(runner, SandboxedWorkflowRunner):
            return runner
        # A module that defines a workflow stays inside the sandbox, and so do the packages that it
        # lies in: passing one through would take the sandbox's checks from the workflow itself.
        inside = {name for entry in workflows for name in _with_packages(entry.__module__)}
        names = {*PASSED_THROUGH, *self._passthrough, *(self._capability_modules() - inside)}
        restrictions: SandboxRestrictions = runner.restrictions
        return dataclasses.replace(
            lean(runner, converter), restrictions=restrictions.with_passthrough_modules(*names)
        )

    def _capability_modules(self) -> set[str]:
        found = {module.__name__ for module in self.app.modules}
        for entry in self.app.governance.registry:
            found.add(entry.handler.__module__)
            if entry.reconcile is not None:
                found.add(entry.reconcile.function.__module__)
            found |= entry.input_schema.traits.modules
            found |= entry.output_schema.traits.modules
        # The standard library has the SDK's own rules; what __main__ is, the sandbox cannot import.
        return {
            name
            for name in found - {"__main__", "__mp_main__"}
            if name.partition(".")[0] not in sys.stdlib_module_names
        }


def _with_packages(module: str) -> list[str]:
    """A module's name, and those of the packages that it lies in."""
    parts = module.split(".")
    return [".".join(parts[: end + 1]) for end in range(len(parts))]


def _chosen(given: timedelta | None, option: str, ours: timedelta) -> timedelta:
    """What the user has set, or ours where that is the SDK's own default: the two look alike."""
    default: object = inspect.signature(Worker).parameters[option].default
    return ours if not given or given == default else given


def _with_pydantic(converter: DataConverter | None) -> DataConverter:
    converter = converter or DataConverter.default
    kind = converter.payload_converter_class
    if issubclass(kind, PydanticPayloadConverter):
        return converter
    if kind is not DefaultPayloadConverter:
        raise ConfigurationError(
            [
                f"the data converter's payload converter is {kind.__name__}: temperance needs "
                "temporalio.contrib.pydantic.PydanticPayloadConverter or a subclass of it"
            ]
        )
    return dataclasses.replace(converter, payload_converter_class=PydanticPayloadConverter)


def _with_public_errors(
    types: Iterable[type[BaseException]] | None,
) -> list[type[BaseException]]:
    kept = list(types or ())
    return kept + [error for error in PUBLIC_ERRORS if error not in kept]
