"""The demo as a newcomer runs it: a process of its own, a real server, workers that are killed."""

import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import httpx
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
    assert (len(charges), sum(c.amount for c in charges)) == (14, Decimal("1256.15"))
    assert len({c.order for c in charges}) == 13  # one order has two partial refunds
    assert len({letter.ticket for letter in letters}) == len(letters) == 37
    assert premises.shop.changed_addresses() == 1
    assert premises.shop.erased_customers() == 0


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


def test_g3_a_refund_over_the_limit_waits_for_a_person_and_outlives_a_worker(
    ran: tuple[Path, int, str],
) -> None:
    charges = [c for c in Premises(ran[0]).gateway.charges() if c.order == "A-2012"]
    assert [charge.amount for charge in charges] == [Decimal("749.00")]
    story = ran[2].partition("T-1014: a refund over the limit waited for a person")[2]
    told = [line.strip() for line in story.splitlines()[1:7]]
    assert told == [
        "asked by automation:support-desk: 749.00 EUR is more than the 500.00 EUR that the agent "
        "may refund.",
        "automation:support-desk tries to approve it, and is refused: APPROVAL_SELF_APPROVAL",
        "killed while it waited: worker-1",
        'approved by user:shift-lead (api): "Seen the video. It wobbles."',
        "user:somebody-else tries to approve it, and is refused: APPROVAL_CONSUMED",
        "envelope: completed, effect done; 1 charge, 749.00 EUR",
    ]


def test_g3_one_address_is_changed_as_a_person_decided_and_another_is_not(
    ran: tuple[Path, int, str],
) -> None:
    assert "T-1013: approved by user:shift-lead (api)" in ran[2]
    assert "T-1039: rejected by user:shift-lead (api)" in ran[2]
    assert "rejected by a person" in ran[2]


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


def ask(home: Path, tickets: Path) -> tuple[subprocess.Popen[bytes], int]:
    """The demo that asks a person, and the terminal at which the person sits."""
    person, terminal = pty.openpty()
    demo = subprocess.Popen(
        [sys.executable, "-m", "support_desk", "--ask", "--home", home, "--tickets", tickets],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": "examples", "PYTHONSAFEPATH": "1", "NO_COLOR": "1"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )
    os.close(terminal)
    return demo, person


def see(person: int, expected: str) -> str:
    """What the person sees up to the expected words."""
    seen = ""
    while expected not in seen:
        try:
            seen += os.read(person, 4096).decode()
        except OSError:
            raise AssertionError(f"it ended without saying {expected!r}:\n{seen}") from None
    return seen


@pytest.fixture
def large_refund(tmp_path: Path) -> Path:
    """One ticket that a person must decide."""
    tickets = tmp_path / "large.jsonl"
    tickets.write_text(
        '{"id": "X-1", "received": "2025-11-24T09:50:05Z", "email": "liam.oconnor@example.net", '
        '"topic": "refund", "order": "A-2012", "subject": "Wobbles", "body": ""}\n'
    )
    return tickets


def test_g3_a_person_decides_at_the_terminal(tmp_path: Path, large_refund: Path) -> None:
    home = tmp_path / "home"
    demo, person = ask(home, large_refund)
    try:
        question = see(person, "[a/r] ")
        assert "X-1 waits for your decision" in question
        assert '"amount": "749.00"' in question
        os.write(person, b"perhaps\n")
        see(person, "[a/r] ")
        os.write(person, b"r\n")
        see(person, "(Enter for none): ")
        os.write(person, b"No.\n")
        rest = see(person, "are stopped.")
        assert demo.wait(60) == 0
    finally:
        demo.terminate()
        os.close(person)
    assert 'rejected by user:shift-lead (cli): "No."' in rest
    assert Premises(home).gateway.charges() == ()


def test_g3_a_person_decides_on_the_web_while_the_terminal_waits(
    tmp_path: Path, large_refund: Path
) -> None:
    home = tmp_path / "home"
    demo, person = ask(home, large_refund)
    try:
        question = see(person, "[a/r] ")
        link = re.search(r"http://127\.0\.0\.1:\d+/approvals/\S+\?key=\S+", question)
        assert link is not None
        with httpx.Client(follow_redirects=True) as browser:
            page = browser.get(link[0])
            token = re.search(r'name="token" value="(\w+)"', page.text)
            assert token is not None
            form = {"token": token[1], "verdict": "approve", "comment": "On the web."}
            origin = link[0].partition("/approvals")[0]
            browser.post(str(page.url), data=form, headers={"origin": origin})
        rest = see(person, "are stopped.")
        assert demo.wait(60) == 0
    finally:
        demo.terminate()
        os.close(person)
    assert "decided elsewhere" in rest
    assert 'approved by user:shift-lead (web): "On the web."' in rest
    assert len(Premises(home).gateway.charges()) == 1


def test_asking_without_a_terminal_is_refused_with_a_clear_message(tmp_path: Path) -> None:
    demo = subprocess.run(
        [sys.executable, "-m", "support_desk", "--ask", "--home", tmp_path / "home"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": "examples", "PYTHONSAFEPATH": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert demo.returncode == 2
    assert "--ask waits for a person, and standard input is no terminal." in demo.stderr
    assert not (tmp_path / "home").exists()


def test_a_terminal_that_is_closed_leaves_nothing_behind(
    tmp_path: Path, large_refund: Path
) -> None:
    demo, person = ask(tmp_path / "home", large_refund)
    try:
        (pid,) = re.findall(r"pid (\d+)", see(person, "[a/r] "))
    finally:
        os.close(person)
        demo.send_signal(signal.SIGHUP)
    demo.wait(60)
    assert soon(lambda: gone(int(pid)))


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
