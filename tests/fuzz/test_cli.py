"""Command lines of any kind: a documented exit code, never a traceback."""

import asyncio
import contextlib
import io
import os
from collections.abc import Generator
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import temperance.logging
from temperance.cli_exit import MEANINGS, ExitCode
from temperance.cli_root import run
from temperance.embedded import EmbeddedServer
from tests.fuzz.budget import budget
from tests.fuzz.judging import bounded
from tests.fuzz.secret import leaks
from tests.fuzz.stage import STAGE, TYPES, Play, Theatre
from tests.fuzz.test_approvals import asked
from tests.fuzz.test_inputs import VALID
from tests.fuzz.values import DOCUMENTS, TEXTS, mutations


def _argument(data: bytes) -> str:
    """Bytes as the operating system hands them to Python; it can hand on none with a zero."""
    return os.fsdecode(data.replace(b"\0", b""))[:100_000]


def _of_a_shell(text: str) -> str:
    return _argument(text.encode(errors="surrogatepass"))


ARGUMENTS: Final = DOCUMENTS.map(_argument) | TEXTS.map(_of_a_shell)
WORDS: Final = TEXTS.map(_of_a_shell)
PEOPLE: Final = st.sampled_from(["user:bob", "service:eve", "user:", ":bob", "bob"]) | WORDS


@pytest.fixture(autouse=True)
def logging_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command sets up the log of its process, which here is everybody's."""

    def nothing(*_: object) -> None: ...

    monkeypatch.setattr(temperance.logging, "configure_logging", nothing)


@contextlib.contextmanager
def terminal(given: bytes, out: io.StringIO, err: io.StringIO) -> Generator[None]:
    """Standard input, output and error of a command."""
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
        yield


async def ran(arguments: list[str], given: bytes = b"") -> int:
    """Runs a command line, and judges all that does not depend on it."""
    out, err = io.StringIO(), io.StringIO()
    with terminal(given, out, err):
        code = await bounded(asyncio.to_thread(run, arguments))
    said = out.getvalue() + err.getvalue()
    assert code in MEANINGS
    assert code != ExitCode.DEFECT, said
    assert "Traceback" not in said
    assert leaks([said]) == []
    assert isinstance(code, int)
    return code


def where(embedded: EmbeddedServer, *more: str) -> list[str]:
    """Options that name the server."""
    return ["--address", embedded.target_host, *more]


@budget(0.7)
@given(
    st.sampled_from(["fuzz.write", *TYPES]) | WORDS,
    st.sampled_from(["text", "file", "stdin", "odd"]),
    DOCUMENTS | VALID | mutations(VALID),
    st.none() | PEOPLE,
    st.none() | WORDS,
    st.booleans(),
)
async def test_an_invocation_of_any_kind_ends_with_a_documented_code(  # noqa: PLR0917 - drawn
    theatre: Theatre,
    embedded: EmbeddedServer,
    tmp_path: Path,
    capability: str,
    how: str,
    data: bytes,
    actor: str | None,
    request_id: str | None,
    as_json: bool,
) -> None:
    """Inputs as text, from a file, from standard input; names of any kind."""
    STAGE.play = Play()
    file = tmp_path / "input"
    file.write_bytes(data)
    given_as = {"text": _argument(data), "file": f"@{file}", "stdin": "-", "odd": "@" + capability}
    code = await ran(
        [
            *("invoke", "--app", "tests.fuzz.stage:APP", "--task-queue", theatre.queue),
            *where(embedded, "--input", given_as[how]),
            *(() if actor is None else ("--actor", actor)),
            *(() if request_id is None else ("--request-id", request_id)),
            *(("--json",) if as_json else ()),
            *("--", capability),
        ],
        data,
    )
    assert code in {ExitCode.OK, ExitCode.FAILED, ExitCode.USAGE}
    assert (code == ExitCode.OK) <= (STAGE.play.door.entered > 0 or request_id is not None)


@budget(0.5)
@given(
    st.sampled_from(["approve", "reject", "cancel", "show"]),
    st.none() | WORDS | st.builds("approval-{}".format, WORDS),
    PEOPLE,
    st.none() | WORDS,
    st.booleans(),
)
async def test_a_decision_of_any_kind_ends_with_a_documented_code(  # noqa: PLR0917 - drawn
    theatre: Theatre,
    embedded: EmbeddedServer,
    verb: str,
    approval: str | None,
    person: str,
    comment: str | None,
    as_json: bool,
) -> None:
    """Names, people and comments of any kind; `None` is an approval that exists."""
    STAGE.play = Play()
    told = await asked(theatre) if approval is None else approval
    code = await ran(
        [
            *("approvals", verb, *where(embedded)),
            *(() if verb == "show" else ("--as", person)),
            *(() if verb == "show" or comment is None else ("--comment", comment)),
            *(("--json",) if as_json else ()),
            *("--", told),
        ]
    )
    assert code in {ExitCode.OK, ExitCode.FAILED, ExitCode.USAGE}


@budget(0.5)
@given(st.lists(st.sampled_from(["invoke", "approvals", "inspect", "-h", "--"]) | ARGUMENTS))
async def test_arguments_of_any_kind_are_refused_or_served(arguments: list[str]) -> None:
    """None of these names a server, or an application that is there."""
    assert await ran(arguments) in {ExitCode.OK, ExitCode.USAGE, ExitCode.UNREACHABLE}
