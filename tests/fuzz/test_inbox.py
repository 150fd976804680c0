"""HTTP requests of any kind to the inbox, over a real server: answered or refused, never a 500."""

from collections.abc import MutableMapping
from typing import Any, Final
from urllib.parse import urlencode

from hypothesis import given
from hypothesis import strategies as st

from temperance import Actor
from temperance.approvals import Approvals
from temperance.inbox.guard import HEADERS
from temperance.inbox.session import Sessions
from temperance.inbox.settings import InboxSettings
from temperance.inbox.site import make_inbox
from tests.fuzz.budget import budget
from tests.fuzz.judging import bounded
from tests.fuzz.secret import leaks, listening
from tests.fuzz.stage import STAGE, Play, Theatre
from tests.fuzz.test_approvals import asked
from tests.fuzz.values import TEXTS

SETTINGS: Final = InboxSettings(port=8234, approver=Actor(id="bob"))
BEHIND: Final = InboxSettings(
    port=8234, approver_header="X-User", url="https://approvals.example.com"
)
SESSIONS: Final = Sessions()
ORIGIN: Final = b"http://127.0.0.1:8234"

BYTES: Final[st.SearchStrategy[bytes]] = TEXTS.map(
    lambda text: text.encode(errors="surrogatepass")
) | st.binary(max_size=20)
METHODS: Final = st.sampled_from(["GET", "POST", "POST", "HEAD", "PUT", "DELETE", "ODD", ""])
PATHS: Final = st.sampled_from(
    ["/", "/history", "/inbox.css", "/approvals/", "/approvals/x", "//", "/..", "{approval}"]
) | TEXTS.map(lambda text: f"/approvals/{text}")
QUERIES: Final[st.SearchStrategy[bytes]] = (
    BYTES
    | BYTES.map(b"after=%b".__mod__)
    | BYTES.map(b"key=%b".__mod__)
    | st.sampled_from([b"key=" + SESSIONS.key.encode(), b"after=" + SESSIONS.sealed("x").encode()])
)
NAMES: Final = st.sampled_from(
    [
        *(b"host", b"cookie", b"origin", b"content-type", b"content-length", b"x-user"),
        *(b"sec-fetch-site", b"transfer-encoding", b"accept-encoding", b"range", b"x"),
    ]
)
HEADER: Final = st.tuples(NAMES, BYTES)
FORMS: Final = st.dictionaries(
    st.sampled_from(["token", "verdict", "comment", "x"]) | TEXTS, TEXTS, max_size=4
)

Scope = MutableMapping[str, Any]


async def answered(
    theatre: Theatre,
    settings: InboxSettings,
    scope: dict[str, Any],
    chunks: list[bytes],
) -> tuple[int, bytes]:
    """Sends one request as an ASGI server does, and gives status and body."""
    inbox = make_inbox(Approvals(theatre.client), settings, SESSIONS)
    waiting = [*chunks]
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        if not waiting:
            return {"type": "http.disconnect"}
        body = waiting.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(waiting)}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    with listening() as lines:
        await bounded(inbox(scope, receive, send))
    head = next(message for message in sent if message["type"] == "http.response.start")
    body = b"".join(message.get("body", b"") for message in sent)
    given_headers = {name.decode(): value.decode() for name, value in head["headers"]}
    assert HEADERS.items() <= given_headers.items()
    assert leaks([*lines, body, str(head)]) == []
    status = head["status"]
    assert isinstance(status, int)
    return status, body


def scope_of(
    method: str, path: str, query: bytes, headers: list[tuple[bytes, bytes]]
) -> dict[str, Any]:
    """A request as an ASGI server hands it on."""
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(errors="surrogatepass"),
        "query_string": query,
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8234),
    }


@budget(2)
@given(
    st.sampled_from([SETTINGS, BEHIND]),
    METHODS,
    PATHS,
    QUERIES,
    st.lists(HEADER, max_size=4),
    st.booleans(),
    st.lists(st.binary(max_size=30), max_size=3),
)
async def test_a_request_of_any_kind_is_answered_or_refused(  # noqa: PLR0917 - drawn
    theatre: Theatre,
    settings: InboxSettings,
    method: str,
    path: str,
    query: bytes,
    headers: list[tuple[bytes, bytes]],
    sound: bool,
    chunks: list[bytes],
) -> None:
    """Methods, addresses, headers and bodies, with and without a session that holds."""
    STAGE.play = Play()
    host = sorted(settings.hosts)[0].encode()
    if sound:
        cookie = f"temperance_inbox_8234={SESSIONS.begin()}".encode()
        headers = [(b"host", host), (b"cookie", cookie), (b"x-user", b"bob"), *headers]
    where = path.replace("{approval}", "/approvals/approval-00000000-0000-5000-8000-000000000000")
    status, _ = await answered(
        theatre, settings, scope_of(method, where, query, headers), chunks or [b""]
    )
    assert 200 <= status < 500, status
    assert STAGE.play.door.entered == 0


@budget(1)
@given(FORMS, st.sampled_from([None, "approve", "reject"]), st.none() | TEXTS, BYTES)
async def test_g3_a_form_of_any_kind_decides_only_with_its_token(
    theatre: Theatre, fields: dict[str, str], verdict: str | None, comment: str | None, tail: bytes
) -> None:
    """With the token and a verdict it may decide; in every other case nothing has happened."""
    STAGE.play = Play()
    approval = await bounded(asked(theatre))
    session = SESSIONS.begin()
    told = {key: value for key, value in fields.items() if key not in {"token", "verdict"}}
    if verdict is not None:
        told |= {"token": SESSIONS.token(session, "user:bob", approval), "verdict": verdict}
    if comment is not None:
        told["comment"] = comment
    body = urlencode(told, errors="surrogatepass").encode() + (b"" if verdict else b"&" + tail)
    headers = [
        (b"host", b"127.0.0.1:8234"),
        (b"cookie", f"temperance_inbox_8234={session}".encode()),
        (b"origin", ORIGIN),
        (b"content-type", b"application/x-www-form-urlencoded"),
    ]
    scope = scope_of("POST", f"/approvals/{approval}", b"", headers)
    status, _ = await answered(theatre, SETTINGS, scope, [body])
    assert status in {303, 400, 403, 409, 413}
    record = await Approvals(theatre.client).show(approval)
    assert (status == 303) == (record.state != "pending")
    assert verdict is not None or record.state == "pending"
    if record.state == "pending":
        await Approvals(theatre.client).cancel(approval, by=Actor(id="ada"))
