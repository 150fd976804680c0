"""How the command line ends: without its extra, with an error nobody foresaw, and with its help."""

import re
from collections.abc import Iterator
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path

import click
import pytest

from temperance.cli_exit import MEANINGS, ExitCode, end
from temperance.cli_root import root, run
from temperance.cli_text import seconds
from tests.support.command_line import command

WITHOUT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "{absent}":
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
from temperance.cli import main
main()
"""


@pytest.mark.parametrize("absent", ["click", "rich"])
async def test_without_the_extra_one_line_says_what_to_install(absent: str, tmp_path: Path) -> None:
    """Whatever the command: the package itself is usable without it."""
    program = ("-c", WITHOUT.format(absent=absent))
    async with command("--help", folder=tmp_path, program=program) as running:
        ran = await running.end()
    assert ran.code == 2
    assert ran.err == f"the command line needs {absent}: pip install 'temperance[cli]'\n"
    assert ran.out == ""


def test_an_error_that_nobody_foresaw_has_a_traceback_without_variables_and_its_own_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Not 1, which is an execution that failed; and no local variable, which may be a secret."""

    @click.command()
    def broken() -> None:
        api_key = "sk-" + "live"
        raise LookupError(len(api_key))

    assert end(broken, []) == int(ExitCode.DEFECT) == 70
    err = capsys.readouterr().err
    assert "LookupError: 7" in err
    assert "sk-live" not in err
    assert err.splitlines()[-2] == "error: unforeseen"


def test_ctrl_c_before_anything_has_begun_ends_with_130(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One line, no traceback."""

    @click.command()
    def interrupted() -> None:
        raise KeyboardInterrupt

    assert end(interrupted, []) == int(ExitCode.INTERRUPTED) == 130
    assert capsys.readouterr().err.strip() == "error: interrupted"


def test_every_exit_code_is_told_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    """With what it means."""
    assert set(MEANINGS) == set(ExitCode)
    assert run(["--help"]) == 0
    told = capsys.readouterr().out.partition("Exit codes:")[2].split("\n")
    assert [line.split()[0] for line in told if line.strip()] == [str(int(c)) for c in ExitCode]


def test_every_command_says_what_it_is_for_and_shows_an_example() -> None:
    """An example is a line that begins with the command itself."""
    for name, entry in commands_of(root, "temperance"):
        assert entry.short_help
        # click keeps the help option that it makes first: it must be the one that users have.
        names = root.context_settings["help_option_names"]
        context = click.Context(entry, info_name=name, help_option_names=names)
        told = entry.get_help(context).splitlines()
        if not isinstance(entry, click.Group):
            assert any(re.match(rf" +(\w+=\S+ )?{name}( |$)", line) for line in told), name
        for parameter in entry.params:
            if isinstance(parameter, click.Option) and parameter.name not in {"namespace", "port"}:
                assert parameter.help, (name, parameter.name)


def commands_of(group: click.Group, prefix: str) -> Iterator[tuple[str, click.Command]]:
    """All commands with their full names, those of groups in groups too."""
    for word, entry in group.commands.items():
        name = f"{prefix} {word}"
        yield name, entry
        if isinstance(entry, click.Group):
            yield from commands_of(entry, name)


def test_no_command_shows_the_help_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    """It is a wrong command: exit code 2."""
    assert run([]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "Commands:" in told.err


def test_a_command_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """With how to find those that are."""
    assert run(["sever"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: No such command 'sever'.")
    assert "`temperance --help` says more" in err


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    """On one line, for a program to read."""
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"temperance {version('temperance')}\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.001, "1ms"),
        (0.25, "250ms"),
        (1, "1s"),
        (7.5, "7.5s"),
        (60, "1m"),
        (90, "90s"),
        (3600, "1h"),
        (5400, "90m"),
        (86400, "1d"),
        (30 * 86400, "30d"),
    ],
)
def test_durations_are_written_in_the_largest_whole_unit(value: float, text: str) -> None:
    """As a person would say them."""
    assert seconds(value) == text


LEAVING = """
import atexit, sys, threading, time
import temporalio.client, temporalio.bridge.runtime
from temperance.cli import main

atexit.register(print, "an exit function ran")
threading.Thread(target=time.sleep, args=(60,)).start()
main()
"""


async def test_where_the_sdk_is_loaded_the_process_ends_without_tearing_the_interpreter_down(
    tmp_path: Path,
) -> None:
    """The SDK's threads may crash it there, one exit in forty, after all work is done.

    So exit functions run and streams are flushed, but no thread is waited for: seen here by one
    that would take a minute.
    """
    async with command("--version", folder=tmp_path, program=("-c", LEAVING)) as running:
        ran = await running.end(timedelta(seconds=20))
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == "an exit function ran"


async def test_help_does_not_wait_for_the_sdk(tmp_path: Path) -> None:
    """Importing the Temporal client takes longer than everything else in it."""
    lines = (
        "import sys; from temperance.cli_root import run; run(['--help'])",
        "print('temporalio' in sys.modules)",
    )
    async with command(folder=tmp_path, program=("-c", "; ".join(lines))) as running:
        assert (await running.end()).out.splitlines()[-1] == "False"
