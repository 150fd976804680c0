"""The house that pays, on the session's server."""

from pathlib import Path

import pytest

from temperance import MemorySink, TemperancePlugin
from temperance.embedded import EmbeddedServer
from tests.guarantees.reconcile.gateway import Gateway
from tests.guarantees.reconcile.house import House
from tests.guarantees.reconcile.payments import app_of


@pytest.fixture
async def house(embedded: EmbeddedServer, tmp_path: Path, task_queue: str) -> House:
    """A client, a gateway and a record of this test's own."""
    gateway, events = Gateway(tmp_path), MemorySink()
    app = app_of(gateway, [events])
    client = await embedded.connect(plugins=[TemperancePlugin(app)])
    return House(client, task_queue, app, gateway, events)
