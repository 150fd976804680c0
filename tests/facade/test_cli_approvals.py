"""`temperance approvals`: what waits, and the decisions of people, from a shell."""

import asyncio
import json
import re
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

import httpx
import pytest

from temperance import Actor
from temperance.cli_root import run as run_here
from temperance.runtime.names import APPROVAL_WORKFLOW
from tests.facade.deciding.house import BOB, DESK, House, opened
from tests.facade.deciding.shop import CARD
from tests.facade.test_cli_exit import WITHOUT
from tests.support.command_line import Ran, Running, command, run
from tests.support.ports import free_port
from tests.support.waiting import wait_until

AS_BOB = ("--as", "user:bob")
UNKNOWN = "approval-00000000-0000-5000-8000-000000000000"


@pytest.fixture(scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[House]:
    """The shop, with a server of its own."""
    async with opened(tmp_path_factory.mktemp("house")) as house:
        yield house


async def approvals(
    house: House, folder: Path, *arguments: str, env: dict[str, str] | None = None
) -> Ran:
    """Run `temperance approvals ARGUMENTS` against the house."""
    address = ("--address", house.server.target_host)
    return await run("approvals", *arguments, *address, folder=folder, env=env)


async def test_g3_what_waits_is_listed_shown_and_approved(house: House, tmp_path: Path) -> None:
    """From the list to the effect; the record says who decided, and through which door."""
    approval = await house.ask("B-1", note="torn")
    listed = await approvals(house, tmp_path, "list")
    assert listed.code == 0
    assert re.search(
        rf"^{approval}  \d+s ago +pending +in 14m \d\ds +high +shop\.refund +"
        r"automation:support-desk  - +-$",
        listed.out,
        re.MULTILINE,
    ), listed.out

    shown = await approvals(house, tmp_path, "show", approval)
    assert shown.code == 0
    for told in (
        *(approval, "pending: waits for a decision", "shop.refund: Refund an order"),
        *("automation:support-desk, directly", "Money leaves the house.", "is over 500.00 EUR"),
        *("shift_lead", "high; write: changes something", "(in 14m", '"note": "torn"'),
    ):
        assert told in shown.out
    assert CARD not in shown.out

    decided = await approvals(
        house, tmp_path, "approve", approval, *AS_BOB, "--comment", "Seen the photos."
    )
    assert (decided.code, decided.err) == (0, "")
    assert decided.out.startswith(f"approved by {BOB}  shop.refund for {DESK}\n")
    await house.until_over(approval)
    assert house.refunds("B-1") == 1
    record = await house.approvals.show(approval)
    assert record.decision is not None
    assert (record.decision.source, record.decision.comment) == ("cli", "Seen the photos.")

    after = await approvals(house, tmp_path, "show", approval)
    assert "decided by  user:bob (cli)" in after.out
    assert "outcome     completed; it took effect" in after.out


async def test_g3_a_rejection_and_a_withdrawal_run_nothing(house: House, tmp_path: Path) -> None:
    """Whoever asked may withdraw; the approver comes from the environment where no option says."""
    rejected, withdrawn = await house.ask("B-2"), await house.ask("B-3")
    no = await approvals(
        house, tmp_path, "reject", rejected, "--json", env={"TEMPERANCE_APPROVER": "user:bob"}
    )
    assert (no.code, json.loads(no.out)["state"]) == (0, "rejected")
    back = await approvals(house, tmp_path, "cancel", withdrawn, "--as", str(DESK))
    assert back.out.startswith(f"cancelled by {DESK}")
    for approval in (rejected, withdrawn):
        await house.until_over(approval)
    shown = await approvals(house, tmp_path, "show", withdrawn, "--json")
    told = json.loads(shown.out)
    assert told["record"]["state"] == "cancelled"
    assert told["outcome"]["error"]["code"] == "APPROVAL_CANCELLED"
    assert house.refunds("B-2") == house.refunds("B-3") == 0


async def test_g3_a_refused_decision_ends_with_1_and_its_code(house: House, tmp_path: Path) -> None:
    """One line with the code, and one with what lies behind it."""
    decided, pending = await house.ask("B-4"), await house.ask("B-5")
    late = await house.ask("B-6", "shop.hurry")
    await house.approvals.reject(decided, approver=BOB)
    await house.until_over(decided)
    await house.until_over(late)
    cases = [
        (decided, AS_BOB, "APPROVAL_REJECTED", "rejected it before"),
        (late, AS_BOB, "APPROVAL_EXPIRED", "has to ask again"),
        (pending, ("--as", str(DESK)), "APPROVAL_SELF_APPROVAL", "leave it to somebody else"),
        (pending, ("--as", "user:intern"), "FORBIDDEN", "leaves this to somebody else"),
        (UNKNOWN, AS_BOB, "CAPABILITY_NOT_FOUND", "another namespace"),
        ("support-desk", AS_BOB, "CAPABILITY_NOT_FOUND", "another namespace"),
    ]
    for approval, who, code, why in cases:
        ran = await approvals(house, tmp_path, "approve", approval, *who)
        assert (ran.code, ran.out) == (1, ""), code
        assert ran.err.startswith(f"error: {code}: ")
        assert why in ran.err
        assert len(ran.err.splitlines()) == 2
    shown = await approvals(house, tmp_path, "show", UNKNOWN)
    assert (shown.code, "CAPABILITY_NOT_FOUND" in shown.err) == (1, True)
    assert (await house.approvals.show(pending)).state == "pending"
    assert house.refunds("B-5") == 0


async def test_the_list_is_filtered_by_capability_actor_age_and_state(
    house: House, tmp_path: Path
) -> None:
    """As JSON it has one line for each; where there is none, standard output is empty."""
    nora = Actor(id="nora")
    mine = await house.ask("B-7", actor=nora)
    over = await house.ask("B-8", "shop.hurry", actor=nora)
    await house.until_over(over)

    async def ids(*filters: str) -> list[str]:
        ran = await approvals(house, tmp_path, "list", "--json", "--actor", "user:nora", *filters)
        assert ran.code == 0, ran.err
        return [json.loads(line)["id"] for line in ran.out.splitlines()]

    assert await ids() == [mine]
    assert await ids("--which", "closed") == [over]
    assert set(await ids("--which", "all")) == {mine, over}
    assert await ids("--which", "all", "--capability", "shop.hurry") == [over]
    assert len(await ids("--which", "all", "--limit", "1")) == 1
    assert await ids("--older-than", "1h") == []

    # Not a moment is waited for: what is older than no time at all is everything.
    assert await ids("--older-than", "0s") == [mine]
    none = await approvals(house, tmp_path, "list", "--actor", "user:nobody")
    assert (none.code, none.out, none.err) == (0, "", "no approvals (pending)\n")


async def test_a_listed_line_of_json_has_all_that_the_server_knows(
    house: House, tmp_path: Path
) -> None:
    """And neither input nor reason, which are for whoever may ask a worker."""
    approval = await house.ask("B-9", actor=Actor(id="otto"))
    await house.approvals.reject(approval, approver=BOB, comment="Secret words.")
    await house.until_over(approval)
    ran = await approvals(
        house, tmp_path, "list", "--which", "closed", "--actor", "user:otto", "--json"
    )
    told = json.loads(ran.out)
    assert {**told, "requested_at": "", "expires_at": ""} == {
        "id": approval,
        "execution_id": approval.removeprefix("approval-"),
        "capability": "shop.refund",
        "actor": "user:otto",
        "risk": "high",
        "side_effect": "write",
        "types": ["shift_lead"],
        "requested_at": "",
        "expires_at": "",
        "open": False,
        "state": "rejected",
        "workflow_id": None,
        "decided_by": "user:bob",
    }
    assert told["requested_at"].endswith("+00:00")
    assert "B-9" not in ran.out
    assert "Secret" not in ran.out


async def test_a_long_list_is_written_whole_and_aligned(house: House, tmp_path: Path) -> None:
    """More than the server gives at a time, and more than is written at a time."""
    described = await house.client.get_workflow_handle(await house.ask("B-10")).describe()
    memo = {"temperance": (await described.memo())["temperance"]}
    ids = [f"approval-22222222-2222-5222-8222-{number:012}" for number in range(1010)]
    for start in range(0, len(ids), 101):
        await asyncio.gather(
            *(
                house.client.start_workflow(
                    APPROVAL_WORKFLOW, None, id=id_, task_queue="of-nobody", memo=memo
                )
                for id_ in ids[start : start + 101]
            )
        )
    await house.until_listed(ids)
    ran = await approvals(house, tmp_path, "list")
    head, *lines = ran.out.splitlines()
    assert head.split()[:5] == ["approval", "asked", "state", "expires", "risk"]
    assert set(ids) <= {line.split()[0] for line in lines}
    assert len({line.index("shop.") for line in lines}) == 1


async def test_where_no_worker_answers_it_ends_with_7(house: House, tmp_path: Path) -> None:
    """A decision is said to count once, if it counts."""
    approval = "approval-33333333-3333-5333-8333-333333333333"
    await house.client.start_workflow(APPROVAL_WORKFLOW, None, id=approval, task_queue="of-nobody")
    hasty = ("--timeout", "0.3")
    shown = await approvals(house, tmp_path, "show", approval, *hasty)
    assert shown.code == 7
    assert shown.err.startswith("error: TIMEOUT: No worker answered in time.\n  a worker of the")
    decided = await approvals(house, tmp_path, "approve", approval, *AS_BOB, *hasty)
    assert decided.code == 7
    assert "does not make it count twice" in decided.err


async def test_a_server_that_cannot_be_reached_ends_with_5(tmp_path: Path) -> None:
    """As everywhere."""
    ran = await run("approvals", "list", "--address", "127.0.0.1:1", folder=tmp_path)
    assert (ran.code, ran.out) == (5, "")
    assert "nothing listens there" in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("approve", UNKNOWN), "Missing option '--as' (env var: 'TEMPERANCE_APPROVER')"),
        (("approve", UNKNOWN, "--as", "4111-secret"), "write KIND:ID"),
        (("approve", UNKNOWN, "--as", "model:4111-secret"), "'user', 'service'"),
        (("approve", UNKNOWN, "--as", "user:"), "id: "),
        (("approve", UNKNOWN, "--as", "anonymous:x"), "name somebody"),
        (("approve", UNKNOWN, *AS_BOB, "--comment", "x" * 2001), "at most 2000"),
        (("approve", UNKNOWN, *AS_BOB, "--timeout", "0"), "not in the range"),
        (("approve", *AS_BOB), "Missing argument 'APPROVAL'"),
        (("list", "--older-than", "soon"), "write a number and s, m, h or d"),
        (("list", "--older-than", "99999999d"), "at most 3650d"),
        (("list", "--limit", "0"), "not in the range"),
        (("list", "--actor", "nora"), "write KIND:ID"),
        (("serve",), "give one"),
        (("serve", *AS_BOB, "--approver-header", "X-User"), "give one"),
        (("serve", *AS_BOB, "--host", "192.0.2.1"), "wanted expressly"),
    ],
)
def test_a_wrong_command_ends_with_2_and_says_what_is_wrong(
    arguments: tuple[str, ...],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Before anything is connected; what was given is not repeated."""
    monkeypatch.delenv("TEMPERANCE_APPROVER", raising=False)
    assert run_here(["approvals", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err
    assert "4111-secret" not in told.err


async def test_the_approver_of_the_environment_yields_to_the_header_of_a_login(
    tmp_path: Path,
) -> None:
    """The variable is set for the other commands; it gets as far as to the server."""
    ran = await run(
        *("approvals", "serve", "--approver-header", "X-User", "--address", "127.0.0.1:1"),
        folder=tmp_path,
        env={"TEMPERANCE_APPROVER": "user:bob"},
    )
    assert (ran.code, "nothing listens there" in ran.err) == (5, True)


async def test_the_inbox_is_served_until_ctrl_c(house: House, tmp_path: Path) -> None:
    """With the printed link it opens, without it does not; the port is free again at the end."""
    port = free_port()
    arguments = ("serve", *AS_BOB, "--port", str(port))
    approval = await house.ask("B-11")
    async with command(
        "approvals", *arguments, "--address", house.server.target_host, folder=tmp_path / "1"
    ) as running:
        await wait_until(has_said(running, "Ctrl-C"))
        link = re.search(r"inbox +(http://127\.0\.0\.1:\d+/\?key=\S+)", running.out())
        assert link is not None
        assert "decides as  user:bob" in running.out()
        async with httpx.AsyncClient(follow_redirects=True) as browser:
            assert (await browser.get(f"http://127.0.0.1:{port}/")).status_code == 403
            page = await browser.get(link[1])
            assert page.status_code == 200
            assert approval in page.text
            # Nothing tells what serves it.
            assert "server" not in page.headers

        taken = await approvals(house, tmp_path / "2", *arguments)
        assert taken.code == 2
        assert f"cannot listen on 127.0.0.1:{port}" in taken.err
        assert "--port" in taken.err

        running.signal(signal.SIGINT)
        ran = await running.end()
    assert (ran.code, ran.err) == (0, "")


def has_said(running: Running, text: str) -> Callable[[], Awaitable[bool]]:
    """The condition that standard output has the text."""

    async def said() -> bool:
        return text in running.out()

    return said


async def test_without_the_extra_one_line_says_what_to_install(tmp_path: Path) -> None:
    """The other commands need it not."""
    program = ("-c", WITHOUT.format(absent="starlette"))
    async with command("approvals", "serve", *AS_BOB, folder=tmp_path, program=program) as running:
        ran = await running.end()
    assert ran.code == 2
    assert ran.err == "error: the inbox needs starlette\n  pip install 'temperance[inbox]'\n"
