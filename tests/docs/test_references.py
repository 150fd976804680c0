"""The reference pages list exactly what the source has."""

import inspect
import re
from pathlib import Path
from typing import get_args

import pytest

from temperance import Event, capability
from temperance.runtime.error import CODES
from temperance.runtime.event import TERMINAL
from temperance.runtime.names import EventType

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def rows(page: str, heading: str) -> list[list[str]]:
    """The cells of the first table whose head begins with the given cell."""
    lines = (DOCS / page).read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    found: list[list[str]] = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def test_the_errors_page_lists_every_code_with_its_stage_message_and_retryability() -> None:
    """A code that appears, changes or goes changes the page."""
    listed = [
        (code.strip("`"), stage, retried == "yes", message)
        for code, stage, retried, message in rows("reference/errors.md", "code")
    ]
    assert listed == [
        (code, entry.stage, entry.retryable, entry.message) for code, entry in CODES.items()
    ]


def test_the_events_page_lists_every_type_and_which_close_the_trail() -> None:
    """The types of the page are those of the source, terminal ones marked."""
    listed = {kind.strip("`"): closes for kind, _, closes in rows("reference/events.md", "type")}
    assert set(listed) == set(get_args(EventType))
    assert {kind for kind, closes in listed.items() if closes == "yes"} == set(TERMINAL)


def test_the_events_page_lists_every_field() -> None:
    """No field of an event is undocumented, and none is invented."""
    listed = [
        name
        for cells in rows("reference/events.md", "field")
        for name in re.findall(r"`(\w+)`", cells[0])
    ]
    assert sorted(listed) == sorted(Event.model_fields)


def test_the_metadata_page_lists_every_parameter_and_which_are_required() -> None:
    """The page follows the signature of the decorator."""
    listed = {
        name.strip("`"): required == "yes"
        for name, required, _ in rows("reference/metadata.md", "parameter")
    }
    parameters = inspect.signature(capability).parameters
    assert listed == {
        name: parameter.default is inspect.Parameter.empty for name, parameter in parameters.items()
    }


@pytest.mark.parametrize("number", range(1, 12))
def test_every_guarantee_has_a_row_and_tests_that_carry_its_number(number: int) -> None:
    """A guarantee without a test is a claim."""
    assert re.search(rf"^\| G{number} \|", (DOCS / "guarantees.md").read_text(), re.MULTILINE)
    assert re.search(rf"^\| G{number} \|", (ROOT / "README.md").read_text(), re.MULTILINE)
    tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    assert re.search(rf"def test_g{number}_", tests), f"no test carries G{number}"


def test_every_decision_is_listed() -> None:
    """The list of decisions is complete."""
    listed = set(re.findall(r"\((\d{4}-[\w-]+\.md)\)", (DOCS / "decisions/README.md").read_text()))
    assert listed == {path.name for path in (DOCS / "decisions").glob("0*.md")}


def test_every_link_between_pages_leads_somewhere() -> None:
    """A relative link in README or docs names a file or folder that exists."""
    pages = [ROOT / "README.md", *DOCS.rglob("*.md")]
    dead = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages
        for target in re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", page.read_text())
        if not (page.parent / target).exists()
    ]
    assert dead == []
