"""Whether a worker can serve an application; it refuses to start where not (DESIGN section 6)."""

from collections.abc import Callable, Sequence

from temporalio.client import Client
from temporalio.contrib.pydantic import PydanticPayloadConverter

from temperance.runtime.app import App
from temperance.runtime.capability import Capability
from temperance.runtime.names import RECONCILE_SUFFIX, RECORD_ACTIVITY


def problems_of_app(app: App) -> list[str]:
    """What keeps any worker from serving an application, whatever its client.

    Args:
        app: The application.

    Returns:
        One line for each problem: what is wrong, where, and what to do.
    """
    problems = [
        f"{module.__name__}.{name}: capability {value.id} is declared and not in the registry: "
        "add it, or take the module out of App.modules"
        for module in app.modules
        for name, value in vars(module).items()
        if isinstance(value, Capability) and app.governance.registry.get(value.id) is not value
    ]
    problems += [
        f"App.workflows: {getattr(entry, '__name__', entry)!r} is no workflow class: "
        "decorate it with @workflow.defn, or take it out"
        for entry in app.workflows
        # The SDK keeps the definition on the class and has no public reader for it.
        if not hasattr(entry, "__temporal_workflow_definition")
    ]
    return problems


def problems_of_worker(
    app: App, client: Client, activities: Sequence[Callable[..., object]]
) -> list[str]:
    """What keeps a worker from serving an application.

    Args:
        app: The application.
        client: The worker's client.
        activities: The worker's other activities.

    Returns:
        One line for each problem: what is wrong, where, and what to do.
    """
    problems = problems_of_app(app)
    registry = app.governance.registry
    taken = {entry.id for entry in registry} | {RECORD_ACTIVITY}
    taken |= {entry.id + RECONCILE_SUFFIX for entry in registry if entry.reconcile is not None}
    for function in activities:
        name = _name_of(function)
        if name in taken:
            problems.append(
                f"activity {name}: a capability has this name: give the activity another"
            )
    converter = client.data_converter.payload_converter_class
    if not issubclass(converter, PydanticPayloadConverter):
        problems.append(
            f"the client's payload converter {converter.__name__} does not know pydantic: "
            "give the plugin to Client.connect(..., plugins=[...])"
        )
    return problems


def problems_of_cache(app: App, cached: int | None) -> list[str]:
    """What keeps a worker without a workflow cache from serving an application.

    Args:
        app: The application.
        cached: The worker's ``max_cached_workflows``.

    Returns:
        One line for each problem.
    """
    local = [entry.id for entry in app.governance.registry if entry.placement == "local"]
    if cached != 0 or not local:
        return []
    return [
        f"max_cached_workflows is 0, and {', '.join(local)} run as local activities: without a "
        "cache the SDK cancels a running one as soon as it does other work, and runs it again "
        "after the workflow task has timed out: leave the cache on, or placement out"
    ]


def _name_of(function: Callable[..., object]) -> str | None:
    # The SDK keeps the definition on the function and has no public reader for it.
    definition = getattr(function, "__temporal_activity_definition", None)
    name: str | None = getattr(definition, "name", None)
    return name
