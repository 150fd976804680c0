"""When an embedded server is ready: it answers, and knows its namespace and attributes."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import (
    AddSearchAttributesRequest,
    ListSearchAttributesRequest,
)
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.runtime import Runtime
from temporalio.service import ConnectConfig, RPCError, ServiceClient

from temperance.server_command import SearchAttributeType
from temperance.server_error import ServerStartFailed

_POLL_SECONDS = 0.01


async def until_ready(
    host: str,
    port: int,
    *,
    namespace: str,
    search_attributes: Mapping[str, SearchAttributeType],
    runtime: Runtime | None,
) -> None:
    """Return when the server can be used; the caller bounds the time, and watches the process.

    Raises:
        ServerStartFailed: a search attribute exists with another type.
    """
    await _hold(lambda: _listens(host, port))
    service = await ServiceClient.connect(
        ConnectConfig(target_host=f"{host}:{port}", lazy=True, runtime=runtime)
    )
    await _hold(lambda: _knows_namespace(service, namespace))
    await _hold(lambda: _knows_attributes(service, namespace, search_attributes))


async def _hold(condition: Callable[[], Awaitable[bool]]) -> None:
    while not await condition():  # noqa: ASYNC110 - a server tells nobody that it is ready
        await asyncio.sleep(_POLL_SECONDS)


async def _listens(host: str, port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError:
        return False
    writer.close()
    await writer.wait_closed()
    return True


async def _knows_namespace(service: ServiceClient, namespace: str) -> bool:
    try:
        await service.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=namespace)
        )
    # The first call connects, and says RuntimeError where that fails.
    except (RPCError, RuntimeError):
        return False
    return True


async def _knows_attributes(
    service: ServiceClient, namespace: str, wanted: Mapping[str, SearchAttributeType]
) -> bool:
    """Whether all are there. What is missing is added: the flag counts only for a new namespace.

    Seen: on a file that already has the namespace the server ignores `--search-attribute`, for a
    new attribute and for one whose type has changed alike.
    """
    if not wanted:
        return True
    listed = await service.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=namespace)
    )
    missing = {name: _value_type(kind) for name, kind in wanted.items()}
    for name, kind in wanted.items():
        if name not in listed.custom_attributes:
            continue
        if listed.custom_attributes[name] != missing.pop(name):
            there = IndexedValueType.Name(listed.custom_attributes[name]).removeprefix(
                "INDEXED_VALUE_TYPE_"
            )
            raise ServerStartFailed(
                f"search attribute {name} is {there} in this store, not {kind}; "
                f"use another name or another store"
            )
    if missing:
        await service.operator_service.add_search_attributes(
            AddSearchAttributesRequest(namespace=namespace, search_attributes=missing)
        )
    return not missing


def _value_type(kind: SearchAttributeType) -> IndexedValueType.ValueType:
    name = "KEYWORD_LIST" if kind == "KeywordList" else kind.upper()
    return IndexedValueType.Value(f"INDEXED_VALUE_TYPE_{name}")
