"""The page of the command line says what the command line says, and its examples run.

After a change of an option: python -m tests.docs.test_cli_reference writes the help texts anew.
"""

import json
import re
import shlex
from pathlib import Path

import click
import pytest

from temperance.approval_listing import ApprovalSummary
from temperance.cli_exit import MEANINGS
from temperance.cli_root import root
from temperance.inspection import AppSeen, CapabilitySeen
from temperance.worker_ready import WorkerReady
from tests.support.command_line import Ran, command, run

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "reference" / "cli.md"
HELP = re.compile(r"```text\n\$ temperance(?P<name>[a-z ]*) --help\n(?P<text>.*?)```\n", re.DOTALL)


def help_of(name: str) -> str:
    """What `temperance NAME --help` prints in a terminal of 80 columns."""
    entry: click.Command = root
    context = click.Context(
        entry, info_name="temperance", terminal_width=80, help_option_names=["-h", "--help"]
    )
    for word in name.split():
        assert isinstance(entry, click.Group)
        entry = entry.commands[word]
        context = click.Context(entry, info_name=word, parent=context, terminal_width=80)
    return f"{entry.get_help(context)}\n"


def names_in(group: click.Group, prefix: str = "") -> list[str]:
    """All commands of a group, and of the groups in it."""
    names: list[str] = []
    for word, entry in group.commands.items():
        names.append(f"{prefix}{word}")
        if isinstance(entry, click.Group):
            names += names_in(entry, f"{prefix}{word} ")
    return names


def listed(heading: str) -> list[list[str]]:
    """The cells of the first table under a heading."""
    section = PAGE.read_text().partition(f"\n{heading}\n")[2]
    section = re.split(r"^#", section, maxsplit=1, flags=re.MULTILINE)[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]


@pytest.mark.parametrize("name", ["", *names_in(root)])
def test_the_help_on_the_page_is_the_help_of_the_command(name: str) -> None:
    """Word for word."""
    shown = {found["name"].strip(): found["text"] for found in HELP.finditer(PAGE.read_text())}
    assert shown[name] == help_of(name)


def test_the_exit_codes_on_the_page_are_those_of_the_command_line() -> None:
    """Each with its meaning."""
    assert listed("## Exit codes") == [
        [f"`{int(code)}`", meaning] for code, meaning in MEANINGS.items()
    ]


@pytest.mark.parametrize(
    ("heading", "fields"),
    [
        ("### The ready file", WorkerReady.__annotations__),
        ("### The application as JSON", AppSeen.__annotations__),
        ("### A capability as JSON", CapabilitySeen.__annotations__),
        ("### `temperance approvals list`", ApprovalSummary.__annotations__),
    ],
)
def test_the_fields_on_the_page_are_those_that_are_written(
    heading: str, fields: dict[str, object]
) -> None:
    """In their order."""
    assert [name.strip("`") for name, _ in listed(heading)] == list(fields)


def commands_shown() -> list[list[str]]:
    """Every `temperance ...` that a reader may run, on any page."""
    pages = [DOCS.parent / "README.md", *DOCS.rglob("*.md")]
    shells = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
    lines = [
        line
        for page in pages
        for block in shells.findall(page.read_text())
        for line in block.replace("\\\n", " ").splitlines()
        if line.startswith("temperance ")
    ]
    return [shlex.split(line, comments=True)[1:] for line in lines]


def test_every_command_on_a_page_is_one_that_the_command_line_takes() -> None:
    """With these options; nothing is run."""
    shown = commands_shown()
    assert len(shown) > 5
    for words in shown:
        entry: click.Command = root
        rest = list(words)
        while isinstance(entry, click.Group):
            entry = entry.commands[rest.pop(0)]
        entry.make_context(entry.name, rest)


def getting_started() -> tuple[str, list[list[str]]]:
    """The module that the page has the reader write, and the commands that it then shows."""
    page = (DOCS / "getting-started.md").read_text()
    module = "\n\n".join(re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL))
    [block] = re.findall(r"^```sh\n(temperance .*?)^```", page, re.MULTILINE | re.DOTALL)
    commands = [shlex.split(line, comments=True)[1:] for line in block.splitlines()]
    return module, commands


async def test_the_commands_of_the_first_steps_run(tmp_path: Path) -> None:
    """As they are shown, but for what keeps tests apart: the port, and where the data is."""
    module, commands = getting_started()
    shop = tmp_path / "shop.py"
    shop.write_text(module)
    dev, inspect, invoke = commands
    ready = tmp_path / "ready.json"
    apart = ["--data-dir", str(tmp_path / "data"), "--ready-file", str(ready)]
    async with command(*dev, *apart, folder=tmp_path / "dev", cwd=tmp_path) as running:
        await running.until(ready)
        address = running.out().partition("server")[2].split(",")[0].strip()
        inspected = await run(*inspect, folder=tmp_path / "inspect", cwd=tmp_path)
        invoked: Ran = await run(
            *invoke, "--address", address, "--json", folder=tmp_path / "invoke", cwd=tmp_path
        )
    assert inspected.code == 0, inspected.err
    assert "orders.refund" in inspected.out
    assert invoked.code == 0, invoked.err + invoked.out
    assert json.loads(invoked.out)["status"] == "completed"


if __name__ == "__main__":

    def anew(found: re.Match[str]) -> str:
        """The block of one command."""
        told = help_of(found["name"].strip())
        return f"```text\n$ temperance{found['name']} --help\n{told}```\n"

    PAGE.write_text(HELP.sub(anew, PAGE.read_text()))
