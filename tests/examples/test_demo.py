"""The demo as a newcomer runs it: a process of its own, a real server, workers that are killed."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from support_desk.premises import Premises

ROOT = Path(__file__).parents[2]

ONE_TICKET = (
    '{"id": "X-1", "received": "2025-11-24T08:00:00Z", "email": "ada.hoffmann@example.com", '
    '"topic": "order_status", "order": "A-2001", "subject": "[red]Where?", "body": ""}\nnonsense\n'
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "support_desk", *map(str, arguments)],
        cwd=ROOT,
        # A connection that the user has set up is not the demo's.
        env={
            **os.environ,
            "PYTHONPATH": "examples",
            "PYTHONSAFEPATH": "1",
            "TEMPORAL_ADDRESS": "localhost:1",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(demo: subprocess.Popen[str]) -> tuple[int, str]:
    """The exit code and what it still had to say."""
    try:
        output, _ = demo.communicate(timeout=120)
    finally:
        demo.terminate()
    return demo.returncode, output


def read_until(demo: subprocess.Popen[str], expected: str) -> str:
    """What it says up to the line that has the expected words."""
    assert demo.stdout is not None
    said = ""
    for line in demo.stdout:
        said += line
        if expected in line:
            return said
    raise AssertionError(f"it ended without saying {expected!r}:\n{said}")


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def soon(condition: Callable[[], bool], seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, str]:
    """The home folder, the exit code and the output of one run over the bundled tickets."""
    home = tmp_path_factory.mktemp("demo") / "home"
    code, output = finish(start("--home", home))
    return home, code, output


def test_it_ends_well_and_says_so(ran: tuple[Path, int, str]) -> None:
    _, code, output = ran
    assert code == 0, output
    assert "They are what the envelopes say, and nothing else." in output
    assert "[37/37]" in output
    assert "--keep" in output


def test_the_real_effects_are_the_expected_ones(ran: tuple[Path, int, str]) -> None:
    premises = Premises(ran[0])
    charges = premises.gateway.charges()
    letters = premises.mail_server.letters()
    assert (len(charges), sum(c.amount for c in charges)) == (14, Decimal("927.15"))
    assert len({c.order for c in charges}) == 13  # one order has two partial refunds
    assert len({letter.ticket for letter in letters}) == len(letters) == 37
    assert premises.shop.changed_addresses() == premises.shop.erased_customers() == 0


def test_a_timeout_after_the_money_moved_charges_once_under_one_key(
    ran: tuple[Path, int, str],
) -> None:
    first, second = Premises(ran[0]).gateway.requests("A-2006")
    assert (first.outcome, first.answered) == ("moved", False)
    assert (second.outcome, second.answered) == ("known", True)
    assert first.key == second.key
    assert "2 attempts (TIMEOUT before); 1 key, 1 charge, 89.00 EUR" in ran[2]


def test_a_read_fails_twice_and_succeeds_at_the_third_attempt(ran: tuple[Path, int, str]) -> None:
    reads = Premises(ran[0]).warehouse.reads("A-2003")
    assert [read.answered for read in reads] == [False, False, True]
    assert "orders.lookup (3)" in ran[2]


def test_a_killed_worker_leaves_an_idempotent_write_to_another_under_the_same_key(
    ran: tuple[Path, int, str],
) -> None:
    first, second = Premises(ran[0]).gateway.requests("A-2014")
    assert first.pid != second.pid
    assert first.key == second.key
    assert (first.outcome, second.outcome) == ("moved", "known")
    assert f"was killed (SIGKILL, pid {first.pid})" in ran[2]
    assert f"takes over (pid {second.pid})" in ran[2]


def test_a_killed_worker_leaves_a_letter_that_is_not_sent_again(
    ran: tuple[Path, int, str],
) -> None:
    (letter,) = [each for each in Premises(ran[0]).mail_server.letters() if each.ticket == "T-1017"]
    assert not letter.receipted
    assert "envelope: failed, effect possible, 1 attempt; 1 letter in the outbox" in ran[2]


def test_malformed_tickets_are_told_by_line_and_reason(ran: tuple[Path, int, str]) -> None:
    assert "line 6: amount: Input should be a valid decimal" in ran[2]
    assert "line 47: id: already used in line 39" in ran[2]


def test_the_output_is_plain_where_there_is_no_terminal(ran: tuple[Path, int, str]) -> None:
    assert "\x1b" not in ran[2]
    assert "\r" not in ran[2]


def test_no_process_is_left_behind(ran: tuple[Path, int, str]) -> None:
    pids = [int(pid) for pid in re.findall(r"pid (\d+)", ran[2])]
    assert pids
    assert all(map(gone, pids))


def test_keep_leaves_everything_running_until_it_is_interrupted(tmp_path: Path) -> None:
    tickets = tmp_path / "mine.jsonl"
    tickets.write_text(ONE_TICKET)
    demo = start("--keep", "--tickets", tickets)
    try:
        said = read_until(demo, "temporal workflow list --address")
        (pid,) = {int(pid) for pid in re.findall(r"pid (\d+)", said)}
        assert "line 2: Invalid JSON" in said
        assert "/namespaces/default/workflows/support-X-1/" in said
        assert not gone(pid)
    finally:
        demo.send_signal(signal.SIGINT)
        code, rest = finish(demo)
    assert code == 0, rest
    assert "stopped" in rest
    assert gone(pid)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_in_the_middle_leaves_nothing_behind(
    number: signal.Signals, tmp_path: Path
) -> None:
    demo = start("--home", tmp_path / "home")
    said = read_until(demo, "request 1 at the gateway")
    demo.send_signal(number)
    code, rest = finish(demo)
    assert code == 130, rest
    assert "Traceback" not in rest
    assert soon(lambda: all(gone(int(pid)) for pid in re.findall(r"pid (\d+)", said)))


def test_a_worker_that_ends_by_itself_is_told_with_its_log(tmp_path: Path) -> None:
    demo = start("--home", tmp_path / "home")
    said = read_until(demo, "request 1 at the gateway")
    (pid,) = re.findall(r"worker-1 started \(pid (\d+)\)", said)
    os.kill(int(pid), signal.SIGKILL)
    code, rest = finish(demo)
    assert code == 1, rest
    assert "worker-1 ended with code -9" in rest
    assert "Traceback" not in rest


def test_a_folder_that_holds_a_desk_is_refused(tmp_path: Path) -> None:
    (tmp_path / "shop.db").touch()
    code, output = finish(start("--home", tmp_path))
    assert code == 2
    assert "already holds a support desk" in output


def test_a_file_without_a_ticket_is_told_and_nothing_is_started(tmp_path: Path) -> None:
    tickets = tmp_path / "empty.jsonl"
    tickets.write_text("nonsense\n")
    code, output = finish(start("--tickets", tickets))
    assert code == 1
    assert "line 1: Invalid JSON" in output
    assert "has no ticket to work on" in output
    assert "Temporal server" not in output
