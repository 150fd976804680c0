"""The sinks that come with the core: in memory, and a file of JSON lines."""

import json
import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from temperance.runtime.event import Event
from temperance.runtime.sink import JsonlSink, MemorySink, Sink


def event(id: str = "e-1:1:capability.requested", **fields: Any) -> Event:
    """An event in which nothing matters but what is given here."""
    sound: dict[str, Any] = {
        "event_id": id,
        "type": "capability.requested",
        "at": datetime(2026, 5, 3, 12, 0, tzinfo=UTC),
        "execution_id": "e-1",
        "actor_id": "alice",
        "actor_kind": "user",
        "surface": "agent",
    }
    return Event(**(sound | fields))


def test_both_are_sinks(tmp_path: Path) -> None:
    assert isinstance(MemorySink(), Sink)
    assert isinstance(JsonlSink(tmp_path / "audit.jsonl"), Sink)


def test_the_memory_drops_what_it_has_and_tells_executions_apart() -> None:
    """Delivery is at least once, recording once."""
    sink = MemorySink()
    sink.record(event())
    sink.record(event())
    sink.record(event("e-2:1:capability.denied", type="capability.denied", execution_id="e-2"))
    assert sink.types() == ["capability.requested", "capability.denied"]
    assert sink.types("e-2") == ["capability.denied"]
    sink.clear()
    sink.record(event())
    assert sink.types() == ["capability.requested"]


def test_a_line_is_the_event_and_reads_back_as_it(tmp_path: Path) -> None:
    """What is not set is left out; line breaks and other scripts stay inside their line."""
    path = tmp_path / "audit.jsonl"
    sink = JsonlSink(path)
    events = [event(), event("e-2", reason="two\nlines \u2028 ä", effect="done", attempts=2)]
    for entry in events:
        sink.record(entry)
    sink.close()
    lines = path.read_bytes().splitlines()
    assert [Event.model_validate_json(line) for line in lines] == events
    assert "effect" not in json.loads(lines[0])


def test_a_file_is_appended_to_also_after_it_was_closed(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    path.write_text("{}\n")
    sink = JsonlSink(path, fsync=True)
    sink.record(event())
    sink.close()
    sink.close()
    sink.record(event("e-2"))
    sink.close()
    assert len(path.read_text().splitlines()) == 3


def test_threads_and_sinks_that_share_a_file_do_not_mix_lines(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    sinks = [JsonlSink(path) for _ in range(2)]

    def write(sink: JsonlSink, name: str) -> None:
        for number in range(25):
            sink.record(event(f"{name}-{number}", reason="x" * 500))

    threads = [
        threading.Thread(target=write, args=(sink, f"{i}-{j}"))
        for i, sink in enumerate(sinks)
        for j in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for sink in sinks:
        sink.close()
    ids = [json.loads(line)["event_id"] for line in path.read_text().splitlines()]
    assert len(ids) == len(set(ids)) == 100


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        JsonlSink(tmp_path / "absent" / "audit.jsonl").record(event())


def test_a_line_that_was_cut_off_is_an_error_and_spoils_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk takes a part of a line; when there is room again, the next one is whole."""
    path = tmp_path / "audit.jsonl"
    sink = JsonlSink(path)
    write = os.write

    def write_some(descriptor: int, line: bytes) -> int:
        return write(descriptor, line[:9])

    monkeypatch.setattr(os, "write", write_some)
    with pytest.raises(OSError, match=r"9 of \d+ bytes"):
        sink.record(event())
    monkeypatch.undo()
    sink.record(event("e-2"))
    sink.record(event("e-3"))
    sink.close()
    torn, *whole = path.read_text().splitlines()
    assert len(torn) == 9
    assert [json.loads(line)["event_id"] for line in whole] == ["e-2", "e-3"]
