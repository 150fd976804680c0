"""The one pipeline of a worker's log."""

import json
import logging
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import structlog
import temporalio.activity
import temporalio.workflow
from pydantic import BaseModel, ValidationError
from temporalio.worker import Worker

from temperance import Event, StructlogSink, TemperancePlugin, log_line
from temperance.activities.attempt_log import bind_attempt, unbind_attempt
from temperance.activities.failure import AttemptFailed
from temperance.embedded import EmbeddedServer
from temperance.log_line import ConsoleLayout, JsonLayout, Lines
from temperance.log_record import exception_text
from temperance.logging import LogFormat, LogLevel, configure_logging
from temperance.runtime.call import Call
from tests.facade.cli_apps import shop
from tests.facade.logged_workflow import Talkative

SECRET = "sk-live-51HqLyj"

EVENT = Event(
    event_id="e:1:capability.completed",
    type="capability.completed",
    at=datetime(2026, 5, 3, 12, 30, 0, 250_000, UTC),
    execution_id="e",
    capability="orders.refund",
    actor_id="ada",
    actor_kind="user",
    surface="agent",
    side_effect="write",
    workflow_id="w",
    effect="done",
    attempts=1,
    duration_ms=1.5,
    reasons=("one", "two"),
)


class Log:
    """What was logged, to a stream that has no file descriptor."""

    def __init__(self) -> None:
        self.stream = StringIO()

    def configure(self, wanted: LogFormat = "json", level: LogLevel = "info") -> None:
        """Begin anew."""
        self.stream = StringIO()
        configure_logging(wanted, level, stream=self.stream)

    def lines(self) -> list[dict[str, Any]]:
        """Each line as the JSON object that it must be."""
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[Log]:
    """The pipeline, and afterwards the logging of this process as it was before."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    monkeypatch.setattr(temporalio.activity.logger, "activity_info_on_message", True)
    monkeypatch.setattr(temporalio.workflow.logger, "workflow_info_on_message", True)
    told = Log()
    told.configure()
    yield told
    structlog.reset_defaults()
    logging.captureWarnings(False)
    root.handlers[:] = handlers
    root.setLevel(level)


def test_structlog_and_logging_write_the_same_line(log: Log) -> None:
    """Timestamp, level, logger, text, and whatever was given beside it."""
    structlog.get_logger("shop").warning("order came", order="o-1", count=3)
    logging.getLogger("shop").warning("order %s", "came", extra={"order": "o-1", "count": 3})
    first, second = log.lines()
    for line in (first, second):
        assert datetime.fromisoformat(line.pop("timestamp")).tzinfo is not None
    assert first == second
    assert first == {
        "level": "warning",
        "logger": "shop",
        "event": "order came",
        "order": "o-1",
        "count": 3,
    }


def test_configured_again_it_replaces_itself_and_leaves_other_handlers(log: Log) -> None:
    """One line, not two; and what somebody else has installed goes on."""
    other = logging.NullHandler()
    logging.getLogger().addHandler(other)
    log.configure()
    log.configure()
    logging.getLogger("shop").info("once")
    assert len(log.lines()) == 1
    assert other in logging.getLogger().handlers


@pytest.mark.parametrize("fast", [True, False])
def test_with_and_without_the_extra_fast_the_lines_are_the_same(
    log: Log, fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also for what JSON does not know, and for what orjson refuses."""
    if not fast:
        monkeypatch.setattr(log_line, "orjson", None)

    @dataclass
    class Point:
        x: int

    circle: list[object] = []
    circle.append(circle)
    structlog.get_logger("shop").info(
        "odd things",
        at=datetime(2026, 5, 3, tzinfo=UTC),
        id=UUID(int=7),
        price=Decimal("1.50"),
        huge=2**70,
        half="\ud800",
        point=Point(1),
        path=Path("/x"),
        nothing=None,
    )
    structlog.get_logger("shop").info("in a circle", circle=circle)
    StructlogSink().record(EVENT)
    odd, looped, event = log.lines()
    assert odd["at"] == "2026-05-03T00:00:00Z"
    assert odd["id"] == "00000000-0000-0000-0000-000000000007"
    assert odd["price"] == "1.50"
    assert odd["huge"] == 2**70
    assert odd["half"] == "\ud800"
    assert odd["point"].endswith("Point(x=1)")
    assert odd["path"] == "/x"
    assert odd["nothing"] is None
    assert looped["event"] == "in a circle"
    assert "circle" not in looped
    assert event["at"] == event["timestamp"] == "2026-05-03T12:30:00.250000Z"


def test_an_audit_event_is_the_line_that_structlog_would_write_of_it(log: Log) -> None:
    """The shorter way changes the time it takes and nothing else."""

    class Plain:
        def info(self, event: str, **fields: object) -> object:
            return structlog.get_logger("temperance.audit").info(event, **fields)

    StructlogSink().record(EVENT)
    StructlogSink(Plain()).record(EVENT)
    short, long = log.lines()
    del short["timestamp"], long["timestamp"]
    assert short == long
    assert short["event"] == "capability.completed"
    assert short["reasons"] == ["one", "two"]
    assert "error_code" not in short


def test_a_sink_made_before_the_log_is_configured_writes_to_it(log: Log) -> None:
    """A sink is made with the application, which may be imported first."""
    structlog.reset_defaults()
    sink = StructlogSink()
    log.configure()
    sink.record(EVENT)
    assert [line["event"] for line in log.lines()] == ["capability.completed"]


def test_audit_events_are_of_level_info(log: Log) -> None:
    """A worker that logs warnings only keeps no record in its log, and says so in its help."""
    log.configure(level="warning")
    StructlogSink().record(EVENT)
    structlog.get_logger("shop").info("unseen")
    logging.getLogger("shop").info("unseen")
    assert log.lines() == []


def test_lines_carry_the_attempt_that_they_are_logged_in(log: Log) -> None:
    """By either way of logging; and what the line says of itself is over it."""
    bound = bind_attempt(
        Call(
            capability_id="orders.refund",
            raw=None,
            actor=None,
            surface="agent",
            execution_id="e-1",
            attempt=2,
        )
    )
    structlog.get_logger("shop").info("one")
    logging.getLogger("shop").info("two")
    logging.getLogger("shop").info("three", extra={"attempt": "third"})
    unbind_attempt(bound)
    logging.getLogger("shop").info("four")
    one, two, three, four = log.lines()
    for line in (one, two):
        assert (line["execution_id"], line["attempt"]) == ("e-1", 2)
        assert line["capability"] == "orders.refund"
    assert three["attempt"] == "third"
    assert "execution_id" not in four


async def test_g6_a_replay_logs_nothing_again(
    log: Log, embedded: EmbeddedServer, task_queue: str
) -> None:
    """Each workflow task replays all before it, as nothing is cached; each line is there once."""
    client = await embedded.connect(plugins=[TemperancePlugin(shop.app)])
    async with Worker(client, task_queue=task_queue, workflows=[Talkative], max_cached_workflows=0):
        await client.execute_workflow(Talkative.run, id=task_queue, task_queue=task_queue)
    own = [line for line in log.lines() if line["logger"] in {"shop", "temporalio.workflow"}]
    assert [line["event"] for line in own] == [
        f"{part} by {way}"
        for part in ("first", "second")
        for way in ("the workflow's logger", "structlog", "logging")
    ]
    assert {line["workflow_id"] for line in own} == {task_queue}
    assert len({line["run_id"] for line in own}) == 1


def test_g10_an_exception_is_logged_without_variables_and_without_what_pydantic_quotes(
    log: Log,
) -> None:
    """The text of a ValidationError has the input in it; place and kind are enough."""

    class Card(BaseModel):
        number: int

    def charge() -> None:
        card_number = SECRET
        try:
            Card.model_validate({"number": card_number})
        except ValidationError as error:
            raise LookupError("no such card") from error

    for way in (structlog.get_logger("shop"), logging.getLogger("shop")):
        try:
            charge()
        except LookupError:
            way.exception("charging failed")
    for line in log.lines():
        assert line["level"] == "error"
        assert line["event"] == "charging failed"
        assert "LookupError: no such card" in line["exception"]
        assert "ValidationError: 1 in Card\n  number: int_parsing" in line["exception"]
        assert "direct cause of the following exception" in line["exception"]
        assert "in charge" in line["exception"]
    assert SECRET not in log.stream.getvalue()


def test_groups_and_circles_of_exceptions_are_told_once() -> None:
    """An exception may be its own context; a group has members."""
    first = ValueError("first")
    second = LookupError("second")
    first.__context__ = second
    second.__context__ = first
    text = exception_text(ExceptionGroup("both", [first, second]))
    assert text.startswith("ExceptionGroup: both (2 sub-exceptions)")
    assert text.count("ValueError: first") == 1
    assert text.count("LookupError: second") == 1
    assert exception_text(KeyError("x")) == "KeyError: 'x'"


def test_an_attempt_that_failed_is_one_line_without_its_message(log: Log) -> None:
    """The SDK prints the stack of what an activity raises; that of a governed one is the library's.

    Also where the application configured logging by itself: the plugin sees to it.
    """
    try:
        raise AttemptFailed("The order was refunded on 3 May.", type="EXECUTION_FAILED")
    except AttemptFailed:
        temporalio.activity.logger.warning("Completing activity as failed", exc_info=True)
    try:
        raise LookupError("of a hand-written activity")
    except LookupError:
        temporalio.activity.logger.warning("Completing activity as failed", exc_info=True)
    governed, by_hand = log.lines()
    assert governed["event"] == (
        "Completing activity as failed: EXECUTION_FAILED, a further attempt is due"
    )
    assert "exception" not in governed
    assert "3 May" not in json.dumps(governed)
    assert "LookupError: of a hand-written activity" in by_hand["exception"]


def test_g10_the_sdk_is_not_heard_below_info(log: Log) -> None:
    """There it logs whole messages of the server, payloads included."""
    log.configure(level="debug")
    logging.getLogger("temporalio.worker._activity").debug("Completing with %s", SECRET)
    logging.getLogger("temporalio.worker._worker").info("Beginning worker shutdown")
    logging.getLogger("temperance.attempt").debug("a detail")
    assert [line["event"] for line in log.lines()] == ["Beginning worker shutdown", "a detail"]


def test_a_record_that_cannot_be_written_fails_nobody_and_tells_nothing(log: Log) -> None:
    """The standard library would print its arguments."""
    record = logging.LogRecord("shop", logging.INFO, "", 0, "%d orders", (SECRET,), None)
    # Not through the logger: pytest's own handler would fail the test.
    [handler] = [
        entry
        for entry in logging.getLogger().handlers
        if type(entry).__module__ == "temperance.logging"
    ]
    handler.handle(record)
    [line] = log.lines()
    assert line["event"] == "a log record could not be written (TypeError)"
    assert line["logger"] == "shop"
    assert SECRET not in log.stream.getvalue()


def test_warnings_of_python_are_lines_of_the_log(log: Log) -> None:
    """Not lines between them."""
    warnings.showwarning("old", UserWarning, "shop.py", 7)
    [line] = log.lines()
    assert (line["level"], line["logger"]) == ("warning", "py.warnings")
    assert "shop.py:7: UserWarning: old" in line["event"]


def test_lines_of_many_threads_stay_whole(tmp_path: Path) -> None:
    """Short ones by the system's own promise, long ones by a lock."""
    path = tmp_path / "log"
    with path.open("w") as stream:
        lines = Lines(stream)

        def write(letter: str) -> None:
            for length in (10, 100_000):
                for _ in range(20):
                    lines.write(letter.encode() * length + b"\n")

        threads = [threading.Thread(target=write, args=(letter,)) for letter in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    written = path.read_text().splitlines()
    assert len(written) == 4 * 2 * 20
    assert all(len(set(line)) == 1 and len(line) in {10, 100_000} for line in written)


def test_a_stream_that_cannot_be_written_to_fails_nobody(tmp_path: Path) -> None:
    """The work goes on without its log."""
    stream = (tmp_path / "log").open("w")
    lines = Lines(stream)
    stream.close()
    lines.write(b"lost\n")


def test_for_a_person_a_line_is_short_and_without_colours_where_there_is_no_terminal(
    log: Log,
) -> None:
    """Of an audit event what happened to what; the rest is in the JSON line."""
    log.configure("console")
    StructlogSink().record(EVENT)
    structlog.get_logger("shop").info("hello", order="o-1")
    event, hello = log.stream.getvalue().splitlines()
    assert "capability.completed" in event
    assert "actor=user:ada" in event
    assert "effect=done" in event
    assert "event_id" not in event
    assert "hello" in hello
    assert "order=o-1" in hello
    assert "\x1b" not in log.stream.getvalue()
    assert b"\x1b[" in ConsoleLayout(colours=True).line({"level": "info", "event": "x"})


def test_the_format_is_chosen_by_the_stream_and_a_wrong_one_is_refused(log: Log) -> None:
    """JSON unless a person looks on."""
    log.configure("auto")
    logging.getLogger("shop").info("for a program")
    assert log.lines()[0]["event"] == "for a program"
    with pytest.raises(ValueError, match="log format 'xml' is unknown"):
        configure_logging("xml")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] - a caller may
    with pytest.raises(ValueError, match="log level 'loud' is unknown"):
        configure_logging("json", "loud")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] - a caller may


def test_a_line_says_when_it_was_logged_unless_told() -> None:
    """UTC, with Z."""
    line = json.loads(JsonLayout().line({"event": "x"}))
    assert line["timestamp"].endswith("Z")
    assert abs(datetime.now(UTC) - datetime.fromisoformat(line["timestamp"])).total_seconds() < 60
