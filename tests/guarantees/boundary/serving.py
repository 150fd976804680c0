"""A client and a worker of one application, in this process, on the session's server."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

from temporalio.client import Client
from temporalio.converter import DataConverter
from temporalio.worker import Worker

from temperance.embedded import EmbeddedServer
from temperance.plugin import TemperancePlugin
from temperance.runtime.app import App


@asynccontextmanager
async def served(
    server: EmbeddedServer,
    app: App,
    queue: str,
    *workflows: type,
    converter: DataConverter | None = None,
) -> AsyncGenerator[Client]:
    """Serve `app` and `workflows` on `queue`; the client has the plugin, and so has the worker."""
    client = await Client.connect(
        server.target_host,
        namespace=server.namespace,
        plugins=[TemperancePlugin(app)],
        data_converter=converter or DataConverter.default,
    )
    async with Worker(
        client,
        task_queue=queue,
        workflows=list(workflows),
        graceful_shutdown_timeout=timedelta(milliseconds=1),
    ):
        yield client
