"""`temperance inspect`: a table, and JSON that does not change by itself."""

import asyncio
import json
import os
import pty
import sys
from pathlib import Path

from tests.support.command_line import APPS, run

SNAPSHOT = Path(__file__).parent / "cli_apps" / "inspected.json"


async def test_json_is_the_same_in_every_process_and_as_it_was(tmp_path: Path) -> None:
    """Two hash seeds, so that no order of a set is left to chance; and against what is committed.

    To change the snapshot: python -m temperance.cli inspect shop:app --json > inspected.json
    """
    first, second = await asyncio.gather(
        *(
            run(
                "inspect",
                "shop:app",
                "--json",
                folder=tmp_path / seed,
                env={"PYTHONHASHSEED": seed},
            )
            for seed in ("1", "2")
        )
    )
    assert (first.code, first.err) == (0, "")
    assert first.out == second.out
    assert json.loads(first.out) == json.loads(SNAPSHOT.read_text())


async def test_without_a_terminal_the_table_is_plain_and_nothing_is_cut(tmp_path: Path) -> None:
    """Wider than any terminal: what reads it is a file or a program."""
    ran = await run("inspect", "shop:app", folder=tmp_path, env={"COLUMNS": "20"})
    assert ran.code == 0
    head, *rows, deciding, closing = ran.out.splitlines()
    assert head.split("  ")[0] == "capability"
    assert [row.split()[0] for row in rows] == [
        "orders.erase",
        "orders.fail",
        "orders.look_up",
        "orders.print_label",
        "orders.refund",
    ]
    assert "manager, within 15m" in rows[0]
    assert "3, after 1ms to 30s" in rows[2]
    assert "20s, queue 2m  30s, beat 10s" in rows[4]
    assert deciding == "approvals: whoever asked may not decide"
    assert closing == "5 capabilities, task queue shop"
    assert ran.out.isascii()


async def test_g3_an_application_in_which_requesters_may_approve_says_so_and_why(
    tmp_path: Path,
) -> None:
    """In the table and as JSON; beside it the name of whatever else decides."""
    table = await run("inspect", "lenient:app", folder=tmp_path)
    assert (
        "approvals: WHOEVER ASKED MAY DECIDE TOO, because: One person runs the shop.; "
        "lenient.anybody says who else may not"
    ) in table.out.splitlines()
    told = await run("inspect", "lenient:app", "--json", folder=tmp_path)
    assert json.loads(told.out)["deciding"] == {
        "may_approve": "lenient.anybody",
        "reject_self_approval": False,
        "self_approval_reason": "One person runs the shop.",
    }


def shown_in_a_terminal(**env: str) -> str:
    """What a person sees, escape sequences included."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(APPS)
        os.environ.update(
            {"PYTHONSAFEPATH": "1", "TERM": "xterm-256color", "COLUMNS": "100", **env}
        )
        command = [sys.executable, "-m", "temperance.cli", "inspect", "shop:app"]
        os.execv(sys.executable, command)  # noqa: S606 - the other end of a terminal
    shown = b""
    try:
        while piece := os.read(terminal, 4096):
            shown += piece
    except OSError:
        # How Linux says that nobody writes any more.
        pass
    os.waitpid(pid, 0)
    os.close(terminal)
    return shown.decode()


def test_in_a_terminal_the_table_has_a_line_and_no_colour_where_none_is_wanted() -> None:
    """NO_COLOR (https://no-color.org) is heeded."""
    plain = shown_in_a_terminal(NO_COLOR="1")
    assert "──" in plain
    assert "orders.refund" in plain
    assert "\x1b[3" not in plain


async def test_an_application_that_no_worker_would_serve_is_refused(tmp_path: Path) -> None:
    """As the worker refuses it: every reason, exit code 6, nothing on standard output."""
    ran = await run("inspect", "incomplete:app", folder=tmp_path)
    assert ran.code == 6
    assert ran.out == ""
    assert "parts.lost is declared and not in the registry" in ran.err
    assert "'NotAWorkflow' is no workflow class" in ran.err


async def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    """`temperance inspect ... | head -1`: no traceback, and the exit code that a shell knows."""
    process = await asyncio.create_subprocess_shell(
        f'"{sys.executable}" -m temperance.cli inspect shop:app --json | true; '
        'exit "${PIPESTATUS[0]}"',
        cwd=APPS,
        executable="/bin/bash",
        stderr=asyncio.subprocess.PIPE,
    )
    _, err = await process.communicate()
    # It may also have written everything before the reader went.
    assert process.returncode in {0, 141}
    assert err == b""


async def test_what_runs_in_the_asking_worker_is_marked(tmp_path: Path) -> None:
    """In the table beside its attempts, in JSON by its placement."""
    table, data = await asyncio.gather(
        run("inspect", "nearby:app", folder=tmp_path / "table"),
        run("inspect", "nearby:app", "--json", folder=tmp_path / "json"),
    )
    assert "1, local" in table.out.splitlines()[1]
    assert json.loads(data.out)["capabilities"][0]["placement"] == "local"
