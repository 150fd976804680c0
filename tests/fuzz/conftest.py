"""The application of the fuzz targets, served by this process on the session's server."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from uuid import uuid4

import pytest
from temporalio.worker import Worker

from temperance.embedded import EmbeddedServer
from temperance.plugin import TemperancePlugin
from tests.fuzz.stage import APP, Theatre
from tests.fuzz.workflows import Asking, Foreign, Misusing


@pytest.fixture(scope="module")
async def theatre(embedded: EmbeddedServer) -> AsyncGenerator[Theatre]:
    """A client and a worker of the stage, on a queue of the module's own."""
    queue = f"fuzz-{uuid4().hex[:8]}"
    client = await embedded.connect(plugins=[TemperancePlugin(APP)])
    async with Worker(
        client,
        task_queue=queue,
        workflows=[Asking, Foreign, Misusing],
        graceful_shutdown_timeout=timedelta(milliseconds=1),
    ):
        yield Theatre(client, queue)
