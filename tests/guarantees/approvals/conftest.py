"""The office of a test: its application, books and events, on the session's server."""

from pathlib import Path

import pytest

from temperance import MemorySink
from temperance.embedded import EmbeddedServer
from tests.guarantees.approvals.capabilities import app_of
from tests.guarantees.approvals.office import Office
from tests.guarantees.runs.books import Books


@pytest.fixture
def books(tmp_path: Path) -> Books:
    """The books that the handlers of this test write in."""
    return Books(tmp_path)


@pytest.fixture
async def office(embedded: EmbeddedServer, books: Books, task_queue: str) -> Office:
    """The application as it is; its worker is the test's to start."""
    events = MemorySink()
    return await Office.opened(embedded, app_of(books, [events]), task_queue, books, events)
