"""A worker's configuration as the plugins have left it."""

from typing import Any

from temporalio import activity
from temporalio.worker import Worker


def active(worker: Worker) -> dict[str, Any]:  # options of many types
    """The options in use, by name."""
    return {**worker.config(active_config=True)}


def activity_names(worker: Worker) -> list[str]:
    """The activity types that a worker serves."""
    definitions = (
        activity._Definition.must_from_callable(entry) for entry in active(worker)["activities"]
    )
    return sorted(definition.name or "" for definition in definitions)
