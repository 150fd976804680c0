"""The workflow sandbox without a detour that the SDK takes for every payload (DESIGN section 12).

For each payload of a workflow task the SDK asks the workflow which command it belongs to, so that a
codec or external storage can be told. Asking enters the sandbox: 40 to 60 microseconds a time, nine
times for an activity with a summary, a quarter of the worker's processor time. A data converter
that has neither a codec nor external storage makes nothing of the answer. There this runner gives
it without asking; the sandbox itself and all its checks stay as they are.
"""

from dataclasses import dataclass, fields

from temporalio.converter import (
    DataConverter,
    SerializationContext,
    StorageDriverStoreContext,
    WorkflowSerializationContext,
)
from temporalio.worker import WorkflowInstance, WorkflowInstanceDetails
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

_NOWHERE = StorageDriverStoreContext(target=None)


@dataclass(frozen=True)
class LeanSandboxRunner(SandboxedWorkflowRunner):
    """The SDK's sandbox for workers whose data converter has no use for contexts of payloads."""

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        """Makes an instance whose payloads all have the context of the workflow itself."""
        instance = super().create_instance(det)
        context = WorkflowSerializationContext(
            namespace=det.info.namespace, workflow_id=det.info.workflow_id
        )

        def serialization_context(command_info: object) -> SerializationContext:
            del command_info
            return context

        def external_store_context(command_info: object) -> StorageDriverStoreContext:
            del command_info
            return _NOWHERE

        # On the instance: its class is private to the SDK, these two methods of it are not.
        instance.get_serialization_context = serialization_context  # type: ignore[method-assign] # as above
        instance.get_external_store_context = external_store_context  # type: ignore[method-assign] # as above
        return instance


def lean(runner: SandboxedWorkflowRunner, converter: DataConverter) -> SandboxedWorkflowRunner:
    """Takes the detour out of a runner where nobody needs it.

    Args:
        runner: The runner; one of the user's own class stays as it is.
        converter: The worker's data converter.

    Returns:
        The runner to use, with the same restrictions.
    """
    needed = converter.payload_codec is not None or converter.external_storage is not None
    if needed or type(runner) is not SandboxedWorkflowRunner:
        return runner
    given = {field.name: getattr(runner, field.name) for field in fields(runner) if field.init}
    return LeanSandboxRunner(**given)
