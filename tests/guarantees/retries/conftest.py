"""The books of a test, and clients and workers of the capabilities that write in them."""

from pathlib import Path

import pytest
from temporalio.client import Client

from temperance import TemperancePlugin
from temperance.embedded import EmbeddedServer
from tests.guarantees.retries.capabilities import app_in
from tests.guarantees.retries.ledger import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """The ledger that the workers of this test write in."""
    return Ledger(tmp_path)


@pytest.fixture
async def desk(embedded: EmbeddedServer, ledger: Ledger) -> Client:
    """A client of the session's server with the application of this test."""
    return await embedded.connect(plugins=[TemperancePlugin(app_in(ledger.folder))])
