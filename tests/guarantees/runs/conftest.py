"""The books of a test, the events of its workers, and a client of the application that has both."""

from pathlib import Path

import pytest
from temporalio.client import Client

from temperance import MemorySink, TemperancePlugin
from temperance.embedded import EmbeddedServer
from tests.guarantees.runs.books import Books
from tests.guarantees.runs.capabilities import app_of


@pytest.fixture
def books(tmp_path: Path) -> Books:
    """The books that the handlers of this test write in."""
    return Books(tmp_path)


@pytest.fixture
def events() -> MemorySink:
    """What the workers of this test recorded."""
    return MemorySink()


@pytest.fixture
async def desk(embedded: EmbeddedServer, books: Books, events: MemorySink) -> Client:
    """A client of the session's server with the application of this test."""
    return await embedded.connect(plugins=[TemperancePlugin(app_of(books, [events]))])
