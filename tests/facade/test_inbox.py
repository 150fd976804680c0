"""The web inbox: what it shows, what it lets a person decide, and what it never does."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import pytest

from temperance import Actor
from temperance.approvals import Approvals
from temperance.inbox.guard import HEADERS
from temperance.inbox.session import Sessions
from temperance.inbox.settings import InboxSettings
from tests.facade.deciding.browsing import URL, Browser, text_of
from tests.facade.deciding.house import BOB, DESK, House, opened
from tests.facade.deciding.shop import CARD

UNKNOWN = "approval-00000000-0000-5000-8000-000000000000"


@pytest.fixture(scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[House]:
    """The shop, with a server of its own."""
    async with opened(tmp_path_factory.mktemp("house")) as house:
        yield house


async def state_of(house: House, approval: str) -> str:
    """Where an approval stands."""
    return (await house.approvals.show(approval)).state


async def test_g3_a_person_reads_what_would_run_and_approves_it_with_a_comment(
    house: House,
) -> None:
    """It runs once; the record has approver, door and comment, and the page what came of it."""
    approval = await house.ask("A-1", note="torn")
    async with Browser.of(house) as browser:
        page = text_of(await browser.get(f"/approvals/{approval}"))
        for told in (
            *("Refund an order, in full or in part.", "shop.refund", "automation:support-desk"),
            *("Money leaves the house.", "749.00 EUR is over 500.00 EUR.", "shift_lead"),
            *("high", "write: changes something", "in 14m", '"order": "A-1"', '"note": "torn"'),
            *("You decide as user:bob", "Approve, and run it once", "Reject"),
        ):
            assert told in page
        assert CARD not in page

        sent = await browser.decide(approval, "approve", "Seen the photos.\r\nTwice.")
        assert (sent.status_code, sent.headers["location"]) == (303, f"/approvals/{approval}")
        await house.until_over(approval)
        after = text_of(await browser.get(f"/approvals/{approval}"))

    record = await house.approvals.show(approval)
    assert record.decision is not None
    assert (record.decision.by, record.decision.source) == (BOB, "web")
    assert record.decision.comment == "Seen the photos.\nTwice."
    assert house.refunds("A-1") == 1
    assert "What came of it: completed , 1 attempt; it took effect." in after
    assert "Seen the photos." in after
    # The output is for whoever asked.
    assert "of whoever asked" not in after


async def test_g3_a_rejected_request_runs_nothing(house: House) -> None:
    """And says who rejected it, and why."""
    approval = await house.ask("A-2")
    async with Browser.of(house) as browser:
        assert (await browser.decide(approval, "reject", "No photos.")).status_code == 303
        await house.until_over(approval)
        page = text_of(await browser.get(f"/approvals/{approval}"))
    assert "rejected nothing was run By user:bob (web)" in page
    assert "No photos." in page
    assert house.refunds("A-2") == 0


async def test_g3_a_decided_link_is_dead(house: House) -> None:
    """It shows what was decided and has no form; a form from before is refused, and says why."""
    approval = await house.ask("A-3")
    sessions = Sessions()
    async with (
        Browser.of(house, sessions=sessions) as browser,
        Browser.of(house, Actor(id="eve"), sessions=sessions) as late,
    ):
        token = await late.token(approval)
        await browser.decide(approval, "reject")
        refused = await late.submit(approval, token=token, verdict="approve", comment="Mine!")
        page = await late.get(f"/approvals/{approval}")
    assert refused.status_code == 409
    assert "Your decision was refused" in text_of(refused)
    assert "somebody has rejected it before" in text_of(refused)
    assert "APPROVAL_REJECTED" in refused.text
    assert "<form" not in refused.text + page.text
    assert house.refunds("A-3") == 0


async def test_g3_of_two_people_at_once_one_decides(house: House) -> None:
    """The other is told so; it runs once at most."""
    approval = await house.ask("A-4")
    people = [Actor(id=f"person-{number}") for number in range(8)]
    async with AsyncExitStack() as stack:
        browsers = [await stack.enter_async_context(Browser.of(house, who)) for who in people]
        tokens = [await browser.token(approval) for browser in browsers]
        answers = await asyncio.gather(
            *(
                browser.submit(approval, token=token, verdict="approve")
                for browser, token in zip(browsers, tokens, strict=True)
            )
        )
        await house.until_over(approval)
    assert sorted(answer.status_code for answer in answers) == [303] + [409] * 7
    assert house.refunds("A-4") == 1


async def test_g3_the_same_form_sent_twice_is_one_decision(house: House) -> None:
    """As when somebody clicks twice, or a call timed out."""
    approval = await house.ask("A-5")
    async with Browser.of(house) as browser:
        token = await browser.token(approval)
        first = await browser.submit(approval, token=token, verdict="approve")
        await house.until_over(approval)
        second = await browser.submit(approval, token=token, verdict="approve")
    assert (first.status_code, second.status_code) == (303, 303)
    assert house.refunds("A-5") == 1


@pytest.mark.parametrize(
    ("approver", "code", "why"),
    [
        (DESK, "APPROVAL_SELF_APPROVAL", "whoever asked may not decide"),
        (Actor(id="intern"), "FORBIDDEN", "leaves this to somebody else"),
    ],
)
async def test_g3_who_may_not_decide_is_told_and_nothing_happens(
    house: House, approver: Actor, code: str, why: str
) -> None:
    """What was written is kept in the form."""
    approval = await house.ask("A-6")
    async with Browser.of(house, approver) as browser:
        refused = await browser.decide(approval, "approve", "It is fine.")
    assert refused.status_code == 403
    assert why in text_of(refused)
    assert code in refused.text
    assert ">It is fine.</textarea>" in refused.text
    assert await state_of(house, approval) == "pending"


async def test_who_asked_is_warned_before_trying(house: House) -> None:
    """The buttons stay: an application may allow it."""
    approval = await house.ask("A-7")
    async with Browser.of(house, DESK) as browser:
        assert "You asked for this yourself." in text_of(
            await browser.get(f"/approvals/{approval}")
        )


async def test_g3_an_expired_request_cannot_be_decided_any_more(house: House) -> None:
    """The form of before is refused; the page says that nobody decided."""
    approval = await house.ask("A-8", "shop.hurry")
    async with Browser.of(house) as browser:
        token = await browser.token(approval)
        await house.until_over(approval)
        refused = await browser.submit(approval, token=token, verdict="approve")
    assert refused.status_code == 409
    assert "it has expired: whoever asked has to ask again" in text_of(refused)
    assert "nobody decided in time; nothing was run" in text_of(refused)
    assert house.refunds("A-8") == 0


async def test_g3_nothing_but_the_form_decides(house: House) -> None:
    """No other method, and no address with whatever parameters."""
    approval = await house.ask("A-9")
    async with Browser.of(house) as browser:
        token = await browser.token(approval)
        fields = {"token": token, "verdict": "approve"}
        for method in ("GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"):
            answer = await browser.request(
                method, f"/approvals/{approval}", params=fields, headers={"origin": browser.origin}
            )
            assert answer.status_code in {200, 405}
        by_query = await browser.post(
            f"/approvals/{approval}", params=fields, headers={"origin": browser.origin}
        )
        assert by_query.status_code == 415
    assert await state_of(house, approval) == "pending"


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:3000", ""])
async def test_g3_a_form_of_another_site_decides_nothing(house: House, origin: str) -> None:
    """Also one of another port of this machine, and also where it has the token."""
    approval = await house.ask("A-10")
    async with Browser.of(house) as browser:
        token = await browser.token(approval)
        headers = {"origin": origin} if origin else {}
        answer = await browser.submit(approval, headers, token=token, verdict="approve")
    assert answer.status_code == 403
    assert "Nothing was decided" in text_of(answer)
    assert await state_of(house, approval) == "pending"


async def test_g3_a_token_is_of_one_session_one_approver_and_one_approval(house: House) -> None:
    """Of no use to anybody else; without one nothing is decided."""
    approval, other = await house.ask("A-11"), await house.ask("A-12")
    sessions = Sessions()
    async with (
        Browser.of(house, sessions=sessions) as browser,
        Browser.of(house, sessions=sessions) as elsewhere,
        Browser.of(house, Actor(id="eve"), sessions=sessions) as eve,
    ):
        good = await browser.token(approval)
        eve.cookies = browser.cookies
        foreign = (await browser.token(other), await elsewhere.token(approval), good[:-1], "", "é")
        answers = [
            await browser.submit(approval, token=token, verdict="approve") for token in foreign
        ]
        answers.append(await eve.submit(approval, token=good, verdict="approve"))
        assert [answer.status_code for answer in answers] == [403] * 6
        assert await state_of(house, approval) == "pending"
        assert (await browser.submit(approval, token=good, verdict="reject")).status_code == 303


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"verdict": "perhaps"}, 400),
        ({}, 400),
        ({"verdict": "approve", "comment": "x" * 2001}, 400),
        ({"verdict": "approve", "comment": "x" * 70_000}, 413),
    ],
)
async def test_a_form_that_says_nothing_or_too_much_is_refused(
    house: House, fields: dict[str, str], status: int
) -> None:
    """By a page, not by an error of the program."""
    approval = await house.ask("A-13")
    async with Browser.of(house) as browser:
        token = await browser.token(approval)
        answer = await browser.submit(approval, token=token, **fields)
    assert answer.status_code == status
    assert "<h1>" in answer.text
    assert await state_of(house, approval) == "pending"


async def test_the_inbox_of_one_person_opens_with_the_printed_link_only(house: House) -> None:
    """Every program of the machine can reach it, an agent's too; none can guess the key."""
    approval = await house.ask("A-14")
    settings = InboxSettings(port=8234, approver=BOB)
    async with Browser(house.approvals, settings, Sessions()) as stranger:
        for path in ("/", "/history", f"/approvals/{approval}"):
            for params in ({}, {"key": "guessed"}, {"key": ""}):
                answer = await stranger.get(path, params=params)
                assert answer.status_code == 403
                assert "the link that `temperance approvals serve` printed" in text_of(answer)
                assert "set-cookie" not in answer.headers
                assert approval not in answer.text
        assert (await stranger.submit(approval, verdict="approve")).status_code == 403

        by_link = await stranger.get(f"/approvals/{approval}", params={"key": stranger.key})
        assert (by_link.status_code, by_link.headers["location"]) == (303, f"/approvals/{approval}")
        assert "HttpOnly" in by_link.headers["set-cookie"]
        assert "SameSite=strict" in by_link.headers["set-cookie"]
        assert (await stranger.get("/")).status_code == 200


async def test_after_a_restart_everybody_begins_anew(house: House) -> None:
    """The cookie of before is of no use, and the page says so."""
    async with Browser.of(house) as before, Browser.of(house) as after:
        after.cookies = before.cookies
        answer = await after.get("/")
    assert answer.status_code == 403
    assert "It was started anew" in text_of(answer)


@pytest.mark.parametrize("host", ["evil.example:8234", "127.0.0.1", "127.0.0.1:8235", ""])
async def test_another_address_is_not_answered(house: House, host: str) -> None:
    """Against DNS rebinding: a page of elsewhere whose name leads here."""
    async with Browser.of(house) as browser:
        answer = await browser.get("/", headers={"host": host})
    assert answer.status_code == 421
    assert "--url" in answer.text


async def test_behind_a_login_its_header_says_who_decides(house: House) -> None:
    """As kind user; cookies are for HTTPS only."""
    approval = await house.ask("A-15")
    async with Browser.behind_login(house, "grace@example.com") as browser:
        first = await browser.get("/")
        assert first.status_code == 200
        assert "You decide as user:grace@example.com" in text_of(first)
        assert first.headers["set-cookie"].startswith("__Host-")
        assert "Secure" in first.headers["set-cookie"]
        assert (await browser.decide(approval, "reject")).status_code == 303
    record = await house.approvals.show(approval)
    assert record.decision is not None
    assert record.decision.by == Actor(id="grace@example.com")


async def test_g3_behind_a_login_nobody_decides_with_the_form_of_another(house: House) -> None:
    """The session is hers, the name is not."""
    approval = await house.ask("A-16")
    sessions = Sessions()
    async with (
        Browser.behind_login(house, "grace", sessions) as grace,
        Browser.behind_login(house, "eve", sessions) as eve,
    ):
        token = await grace.token(approval)
        eve.cookies = grace.cookies
        answer = await eve.submit(approval, token=token, verdict="approve")
    assert answer.status_code == 403
    assert await state_of(house, approval) == "pending"


async def test_g3_behind_a_login_that_names_nobody_or_two_nothing_is_shown(house: House) -> None:
    """A header that a visitor brought along, and the login did not replace, is two."""
    approval = await house.ask("A-17")
    async with Browser.behind_login(house, "grace") as browser:
        token = await browser.token(approval)
        del browser.headers["X-Forwarded-User"]
        for names in ([], [b"grace", b"bob"], [b""], [b" "], [b"x" * 201], [b"\xff"]):
            headers = [(b"X-Forwarded-User", name) for name in names]
            looked = await browser.get("/", headers=headers)
            decided = await browser.post(
                f"/approvals/{approval}",
                data={"token": token, "verdict": "approve"},
                headers=[*headers, (b"origin", URL.encode())],
            )
            assert (looked.status_code, decided.status_code) == (403, 403), names
            assert "X-Forwarded-User" in text_of(looked)
    assert await state_of(house, approval) == "pending"


@pytest.mark.parametrize("approval", [UNKNOWN, "approval-1", "support-desk", "a%2Fb", "..%2F"])
async def test_what_is_not_there_is_told(house: House, approval: str) -> None:
    """Whether the id is one or not; a form for it decides nothing."""
    async with Browser.of(house) as browser:
        page = await browser.get(f"/approvals/{approval}")
        sent = await browser.submit(approval, token="", verdict="approve")
    assert page.status_code == 404
    assert sent.status_code in {403, 404}
    assert "<h1>" in page.text


async def test_what_a_request_says_is_shown_and_never_obeyed(house: House) -> None:
    """No markup, no hidden letters, no letters that turn others around."""
    evil = "</pre><script>alert(1)</script>\u202eevil\u200b&amp;"
    approval = await house.ask("A-18", actor=Actor(id='<b onload="x">'), note=evil)
    async with Browser.of(house) as browser:
        await browser.decide(approval, "reject", "<img src=x>\u202e")
        await house.until_over(approval)
        pages = [await browser.get(path) for path in (f"/approvals/{approval}", "/history")]
    one, history = pages
    for page in pages:
        assert "<script" not in page.text
        assert "<img" not in page.text
        assert "<b onload" not in page.text
        assert "\u202e" not in page.text
        assert "\u200b" not in page.text
    assert (
        "&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;\\u202eevil\\u200b&amp;amp;" in one.text
    )
    assert "&lt;img src=x&gt;\\u202e" in one.text
    assert "&lt;b onload=" in history.text


async def test_every_answer_has_the_headers_that_keep_it_apart(house: House) -> None:
    """Nothing runs in it, nobody frames or keeps it: errors and the style sheet included."""
    approval = await house.ask("A-19")
    async with Browser.of(house) as browser:
        answers = [
            await browser.get("/"),
            await browser.get(f"/approvals/{approval}"),
            await browser.get("/inbox.css"),
            await browser.get("/nothing"),
            await browser.get("/", headers={"host": "evil.example"}),
            await browser.submit(approval, token="", verdict="approve"),
            await browser.put("/"),
        ]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 404, 421, 403, 405]
    for answer in answers:
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert HEADERS["content-security-policy"].startswith("default-src 'none'; style-src 'self';")
    assert "style=" not in answers[1].text


async def test_lists_are_paged_and_say_what_became_of_each(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Newest first; every page leads to the next, and a page that is none says so."""
    approvals = [await house.ask(f"A-2{number}") for number in range(5)]
    await house.approvals.reject(approvals[0], approver=BOB)
    await house.until_over(approvals[0])
    monkeypatch.setattr("temperance.inbox.pages.PAGE_SIZE", 2)
    seen: list[str] = []
    async with Browser.of(house) as browser:
        path = "/"
        while path:
            page = await browser.get(path)
            seen += [entry for entry in approvals if entry in page.text]
            older = page.text.partition('rel="next" href="')[2].partition('"')[0]
            path = f"/{older}" if older else ""
        closed = text_of(await browser.get("/history"))
        bad = [await browser.get("/", params={"after": after}) for after in ("x", "AAAA.", "é.é")]
    assert sorted(seen) == sorted(approvals[1:])
    assert "rejected user:bob" in closed
    assert [page.status_code for page in bad] == [400] * 3
    assert "There is no such page of the list." in text_of(bad[0])


async def test_where_no_worker_answers_it_is_said(house: House) -> None:
    """The list is there all the same; a decision is said to count once, if it counts."""
    approval = "approval-11111111-1111-5111-8111-111111111111"
    await house.client.start_workflow(
        "temperance.Approval", None, id=approval, task_queue="of-nobody"
    )
    settings = InboxSettings(port=8234, approver=BOB)
    sessions = Sessions()
    hasty = Approvals(house.client, timeout=timedelta(milliseconds=300))
    async with Browser(hasty, settings, sessions) as browser:
        await browser.get("/", params={"key": browser.key})
        assert (await browser.get("/")).status_code == 200
        page = await browser.get(f"/approvals/{approval}")
        session = next(iter(browser.cookies.values()))
        token = sessions.token(session, str(BOB), approval)
        sent = await browser.submit(approval, token=token, verdict="approve")
    assert (page.status_code, sent.status_code) == (503, 503)
    assert "No worker answered in time." in text_of(page)
    assert "does not make it count twice" in text_of(sent)


@pytest.mark.slow
async def test_where_the_server_is_away_it_is_said(tmp_path: Path) -> None:
    """Approvals are safe there, and a decision that was sent may count, once."""
    async with opened(tmp_path) as house:
        approval = await house.ask("A-30")
        async with Browser.of(house) as browser:
            token = await browser.token(approval)
            await house.server.kill()
            pages = await asyncio.gather(
                browser.get("/"), browser.submit(approval, token=token, verdict="approve")
            )
    for page in pages:
        assert page.status_code == 502
        assert "The Temporal server does not answer" in text_of(page)
        assert "sent again it still counts once" in text_of(page)
