"""A request id that is used already: is it the same request again (G5)?

The server keeps what an activity was started with as long as it keeps the activity, so the record
itself is asked.
"""

from typing import Any

from temporalio.client import ActivityHandle, Client
from temporalio.common import RawValue
from temporalio.service import RPCError, RPCStatusCode

from temperance.runtime.capability import Capability
from temperance.runtime.messages import Ask
from temperance.workflows.raw_input import RawInput, raw_input


async def is_taken(client: Client, id_: str) -> bool:
    """Whether a request has used this id.

    Raises:
        temporalio.service.RPCError: The server cannot be reached, or refuses the call.
    """
    try:
        await client.get_activity_handle(id_).describe()
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return False
        raise
    return True


# A capability of any input and output.
async def same_request(
    client: Client, id_: str, capability: Capability[Any, Any], raw: RawInput, ask: Ask
) -> ActivityHandle[RawValue] | None:
    """The activity that has the id, unless it was started for another request.

    Args:
        client: A connected client.
        id_: The request id.
        capability: What is asked for now.
        raw: With what input.
        ask: By whom, and through which door.

    Returns:
        A handle of that very run, or ``None``: another capability, another input, or another
        requester or door, who may not be told what this one was answered.

    Raises:
        temporalio.service.RPCError: The server cannot be reached, or refuses the call.
    """
    described = await client.get_activity_handle(id_).describe(include_input=True)
    recorded: list[RawValue] = await described.input([RawValue, RawValue]) or []
    if described.activity_type != capability.id or len(recorded) != 2:
        return None
    if not _equal(capability, recorded[0].payload.data, raw):
        return None
    try:
        asked = Ask.from_json(recorded[1].payload.data)
    except ValueError:
        return None
    if (str(asked.actor), asked.surface) != (str(ask.actor), ask.surface):
        return None
    return client.get_activity_handle(id_, run_id=described.activity_run_id, result_type=RawValue)


def _equal(capability: Capability[Any, Any], earlier: bytes, later: RawInput) -> bool:
    """Whether two inputs are the same: as they were given, or as they are understood."""
    if raw_input(capability, earlier, by_id=True).hash == later.hash:
        return True
    schema = capability.input_schema
    try:
        values = [schema.canonical(schema.from_json(data)) for data in (earlier, later.json)]
    except Exception:  # noqa: BLE001 - a validator of the application's own, or an invalid input
        return False
    return values[0] == values[1]
